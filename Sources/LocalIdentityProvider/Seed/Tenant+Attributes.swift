/// Attributes that a client submits, judged by the tenant's definitions.
extension Tenant {
    func attribute(_ name: String) -> AttributeDefinition? {
        attributes.first { $0.name == name } ?? AttributeDefinition.builtIn.first { $0.name == name }
    }

    /// The claims that carry a person's attributes.
    func claims(of attributes: [String: String]) -> [(name: String, value: JSON)] {
        attributes.compactMap { name, value in attribute(name)?.claim.map { ($0, .string(value)) } }
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
        let accepted = known.filter { attribute($0.key)?.accepts($0.value) == true }
        let refused = known.keys.filter { accepted[$0] == nil }.sorted()
        guard refused.isEmpty else { throw ProtocolError.attributes(refused) }
        return accepted.compactMapValues(\.text)
    }

    /// The required attributes of the first page that lacks one.
    func missing(on pages: [[FlowAttribute]], given: [String: String]) -> [AttributeDefinition] {
        let missing = pages.map { page in page.filter { $0.isRequired ?? true && given[$0.name] == nil } }
        return missing.first { !$0.isEmpty }?.compactMap { attribute($0.name) } ?? []
    }
}
