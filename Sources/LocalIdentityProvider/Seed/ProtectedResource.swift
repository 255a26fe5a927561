/// A web API that accepts access tokens.
package struct ProtectedResource: Codable, Sendable {
    /// One permission of an API.
    package struct Permission: Codable, Sendable {
        package var value: String
        @Defaulted package var needsConsent: Bool
    }

    /// The application ID URI that scopes begin with.
    package var identifier: String
    package var audience: String
    /// `api1` or `api2`: where this provider serves it.
    package var path: String
    /// The first one reads, the last one writes.
    package var scopes: [Permission]

    var scopeNames: [String] { scopes.map { "\(identifier)/\($0.value)" } }

    func needsConsent(toScope scope: String) -> Bool {
        scopes.contains { $0.needsConsent && "\(identifier)/\($0.value)" == scope }
    }
}
