#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NativeAuthError {
    /// The step has succeeded, and the delegate has no method that says so.
    static func unheard(_ callback: String) -> NativeAuthError {
        NativeAuthError(.generalError, "the delegate has no \(callback); give it one", UUID())
    }

    /// As MSAL calls it.
    public var correlationId: UUID { correlationID }
    public var errorUri: String? { errorURI }
}
