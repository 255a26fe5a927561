import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-up to begin.
public final class MSALNativeAuthSignUpParameters {
    public let username: String
    public var password: String?
    public var attributes: [String: Any]?
    public var correlationId: UUID?

    public init(username: String) { self.username = username }

    var parameters: SignUpParameters {
        var parameters = SignUpParameters(
            username: username,
            password: password.map { Secret($0) },
            attributes: attributes.map { JSON.Object(attributes: $0) }
        )
        parameters.correlationID = correlationId
        return parameters
    }
}
