/// What a tenant can know of a person, and the claim that carries it.
package struct AttributeDefinition: Codable, Sendable {
    package var name: String
    /// `integer`, or anything else for text.
    package var type: String?
    package var regex: String?
    package var maximumLength: Int?
    package var claim: String?

    static let builtIn =
        [
            AttributeDefinition(name: "displayName", claim: "name"),
            AttributeDefinition(name: "givenName", claim: "given_name"),
            AttributeDefinition(name: "surname", claim: "family_name"),
        ]
        + ["city", "country", "state", "postalCode", "streetAddress", "jobTitle"].map { AttributeDefinition(name: $0) }

    var isWellFormed: Bool {
        guard let regex else { return true }
        return (try? Regex(regex)) != nil  // the question is whether it parses
    }

    func accepts(_ value: JSON) -> Bool {
        guard let text = value.text, !text.isEmpty, text.count <= maximumLength ?? 256 else { return false }
        if type == "integer", Int(text) == nil { return false }
        guard let regex else { return true }
        return (try? Regex(regex).wholeMatch(in: text)) != nil  // one that does not parse was refused in the seed
    }

    /// As `required_attributes` lists it.
    var requirement: JSON {
        var members: [String: JSON] = ["name": .string(name), "type": .string(type ?? "string"), "required": true]
        members["options"] = regex.map { ["regex": .string($0)] }
        return .object(members)
    }
}
