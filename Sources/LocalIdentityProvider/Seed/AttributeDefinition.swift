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
        guard let pattern = regex else { return true }
        guard let regex = try? Regex(pattern) else { return false }  // refused when the seed was read
        return text.wholeMatch(of: regex) != nil
    }
}
