/// The `attributes` parameter, checked against the tenant's definitions.
struct SubmittedAttributes: Sendable {
    let values: [String: String]

    /// Unknown names are ignored; refused values are named all at once.
    init(_ text: String?, tenant: Tenant) throws {
        guard let text else {
            values = [:]
            return
        }
        guard let submitted = (try? JSON(parsing: text.utf8))?.members else {  // what is not JSON is refused here
            throw ProtocolError.invalidRequest(ErrorNumber.attributes, "The attributes are not a JSON object.")
        }
        var values: [String: String] = [:]
        var refused: [String] = []
        for (name, value) in submitted.sorted(by: { $0.key < $1.key }) {
            guard let definition = tenant.attribute(name) else { continue }
            if definition.accepts(value) { values[name] = value.text } else { refused.append(name) }
        }
        guard refused.isEmpty else { throw Self.invalid(refused) }
        self.values = values
    }

    static func invalid(_ names: [String]) -> ProtocolError {
        ProtocolError(
            "invalid_grant",
            ErrorNumber.attributes,
            "Some attributes have values that are not accepted. Correct \(names.joined(separator: ", ")).",
            suberror: "attribute_validation_failed",
            extra: ["invalid_attributes": .array(names.map { ["name": .string($0)] })]
        )
    }

    /// The required attributes of the first page that lacks one.
    static func missing(on pages: [[FlowAttribute]], given: [String: String], tenant: Tenant) -> [AttributeDefinition] {
        for page in pages {
            let missing = page.filter { $0.isRequired && given[$0.name] == nil }
            if !missing.isEmpty { return missing.compactMap { tenant.attribute($0.name) } }
        }
        return []
    }
}
