#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A password reset to begin.
public final class MSALNativeAuthResetPasswordParameters {
    public let username: String
    public var correlationId: UUID?

    public init(username: String) {
        self.username = username
    }
}
