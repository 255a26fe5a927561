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

    /// Whether `name` is the id, the domain or the domain's first label.
    func isNamed(_ name: String) -> Bool {
        [id, domain, String(domain.prefix { $0 != "." })].contains { $0.lowercased() == name.lowercased() }
    }
}
