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

    // MARK: Attributes

    func attribute(_ name: String) -> AttributeDefinition? {
        attributes.first { $0.name == name } ?? AttributeDefinition.builtIn.first { $0.name == name }
    }

    func claims(of attributes: [String: String]) -> [String: JSON] {
        let claims = attributes.compactMap { name, value in attribute(name)?.claim.map { ($0, JSON.string(value)) } }
        return Dictionary(claims) { $1 }
    }

    /// The accepted values of the `attributes` parameter.
    ///
    /// Unknown names are ignored; refused values are named all at once.
    func accepted(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let submitted = (try? JSON(parsing: text.utf8))?.members else {  // what is not JSON is refused here
            throw ProtocolError.attributesNotJSON
        }
        let known = submitted.filter { attribute($0.key) != nil }
        let refused = known.filter { attribute($0.key)?.accepts($0.value) != true }
        guard refused.isEmpty else { throw ProtocolError.attributes(refused.keys.sorted()) }
        return known.compactMapValues(\.text)
    }

    /// The required attributes of the first page that lacks one.
    func missing(on pages: [[FlowAttribute]], given: [String: String]) -> [AttributeDefinition] {
        let missing = pages.map { page in page.filter { $0.isRequired ?? true && given[$0.name] == nil } }
        return missing.first { !$0.isEmpty }?.compactMap { attribute($0.name) } ?? []
    }
}
