public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-up to begin.
public struct SignUpParameters: Sendable {
    public var username: String

    /// nil: asked for later, where the tenant wants one.
    public var password: Secret?

    /// What is known of the person, by attribute name; several values of one attribute are joined by commas.
    public var attributes: JSON.Object?

    /// What the requests of the flow are marked with; nil: a new one.
    public var correlationID: UUID?

    public init(username: String, password: Secret? = nil, attributes: JSON.Object? = nil) {
        self.username = username
        self.password = password
        self.attributes = attributes
    }
}
