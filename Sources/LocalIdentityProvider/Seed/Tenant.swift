/// A directory of people and the programs that may sign them in.
package struct Tenant: Codable, Sendable {
    package var id: String
    /// The full domain, such as `fabrikvine.onmicrosoft.com`.
    package var domain: String
    @Defaulted package var algorithm: SigningAlgorithm
    @Defaulted package var clients: [Client]
    @Defaulted package var policies: [UserFlow]
    @Defaulted package var users: [Person]
    @Defaulted package var resources: [ProtectedResource]
    @Defaulted package var attributes: [AttributeDefinition]
    /// Addresses and numbers that may not become a sign-in method.
    @Defaulted package var blockedContacts: [String]

    /// The domain's first label.
    var shortName: String { domain.split(separator: ".").first.map(String.init) ?? domain }

    func isNamed(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == id.lowercased() || name == domain.lowercased() || name == shortName.lowercased()
    }

    /// The API a scope belongs to; `…/.default` stands for all its scopes that need no consent.
    func resource(forScope scope: String) -> (resource: ProtectedResource, scopes: [String])? {
        for resource in resources {
            if scope == resource.identifier + "/.default" {
                return (resource, resource.scopeNames.filter { !resource.needsConsent(toScope: $0) })
            }
            if resource.scopeNames.contains(scope) { return (resource, [scope]) }
        }
        return nil
    }
}
