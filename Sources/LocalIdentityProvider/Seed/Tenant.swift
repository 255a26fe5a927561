/// A directory of people and the programs that may sign them in.
package struct Tenant: Codable, Sendable {
    package var id: String
    /// The full domain, such as `fabrikvine.onmicrosoft.com`.
    package var domain: String
    package var algorithm: SigningAlgorithm
    package var clients: [Client]
    package var policies: [UserFlow]
    package var users: [Person]
    package var resources: [ProtectedResource]
    package var attributes: [AttributeDefinition]
    /// Addresses and numbers that may not become a sign-in method.
    package var blockedContacts: [String]

    /// The domain's first label.
    var shortName: String { domain.split(separator: ".").first.map(String.init) ?? domain }

    func isNamed(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == id.lowercased() || name == domain.lowercased() || name == shortName.lowercased()
    }

    func attribute(_ name: String) -> AttributeDefinition? {
        attributes.first { $0.name == name } ?? AttributeDefinition.builtIn.first { $0.name == name }
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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        domain = try container.decode(String.self, forKey: .domain)
        algorithm = try container.decodeIfPresent(SigningAlgorithm.self, forKey: .algorithm) ?? .rs256
        clients = try container.decodeIfPresent([Client].self, forKey: .clients) ?? []
        policies = try container.decodeIfPresent([UserFlow].self, forKey: .policies) ?? []
        users = try container.decodeIfPresent([Person].self, forKey: .users) ?? []
        resources = try container.decodeIfPresent([ProtectedResource].self, forKey: .resources) ?? []
        attributes = try container.decodeIfPresent([AttributeDefinition].self, forKey: .attributes) ?? []
        blockedContacts = try container.decodeIfPresent([String].self, forKey: .blockedContacts) ?? []
    }
}
