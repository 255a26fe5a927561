// Foundation's `CustomNSError` is outside of FoundationEssentials, which is all that the libraries below need on Linux.
#if canImport(FoundationEssentials)
public import Foundation
public import HTTPTransport
public import NativeAuthentication
public import OAuth
public import OpenIDConnect
public import Sealing
public import SignIn
public import TokenManagement
public import TokenStorage

extension CodedErrorFacts where Self: CustomNSError {
    public static var errorDomain: String { domain }
    public var errorCode: Int { number }
    public var errorUserInfo: [String: Any] { localizedTexts }
}

extension AcquisitionError: CustomNSError {}
extension AuthorityError: CustomNSError {}
extension DPoPError: CustomNSError {}
extension HTTPTransportError: CustomNSError {}
extension IDTokenError: CustomNSError {}
extension IDTokenFlaw: CustomNSError {}
extension IssuerUnavailable: CustomNSError {}
extension JSONError: CustomNSError {}
extension NativeAuthError: CustomNSError {}
extension OAuthError: CustomNSError {}
extension SealingError: CustomNSError {}
extension SignInError: CustomNSError {}
extension StepError: CustomNSError {}
extension TokenStoreError: CustomNSError {}
extension WebAPIError: CustomNSError {}
#endif
