// Microsoft's module brings Foundation along, and the code of its guides relies on that. A step of native
// authentication is one type for both, so `MSAL.SignInStartError` is in this module too.
@_exported public import Foundation
@_exported public import NativeAuthentication
import OAuth

/// How the app can ask users to prove who they are.
public typealias MSALNativeAuthChallengeTypes = ChallengeTypes

/// What the app can do beyond a first factor.
public typealias MSALNativeAuthCapabilities = Capabilities

/// By what a code is sent.
public typealias MSALNativeAuthChannelType = ChannelType

/// Something that the tenant wants to know of a user who signs up.
public typealias MSALNativeAuthRequiredAttribute = RequiredAttribute

/// A way to send a code to a user, or to register.
public typealias MSALAuthMethod = AuthMethod

extension ChallengeTypes {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A code that is sent to the user, as older releases of MSAL spell it.
    public static let OOB = oob
}

extension NativeAuthError {
    /// The step has succeeded, and the delegate has no method that says so.
    static func unheard(_ callback: String) -> NativeAuthError {
        NativeAuthError(
            .generalError,
            "the delegate has no \(callback)",
            UUID(),
            remedy: .correct("give it one")
        )
    }

    /// What the requests of the flow are marked with, here and at the issuer.
    public var correlationId: UUID { correlationID }

    /// Where the issuer explains the error.
    public var errorUri: String? { errorURI }
}
