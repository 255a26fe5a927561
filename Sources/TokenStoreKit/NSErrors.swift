// Foundation's `CustomNSError` is outside of FoundationEssentials, which is all that the libraries below need on Linux.
#if canImport(FoundationEssentials)
public import Foundation
public import OAuth
public import Sealing
public import TokenStorage

extension CodedErrorFacts where Self: CustomNSError {
    public static var errorDomain: String { domain }
    public var errorCode: Int { number }
    public var errorUserInfo: [String: Any] { localizedTexts }
}

extension SealingError: CustomNSError {}
extension TokenStoreError: CustomNSError {}
#endif
