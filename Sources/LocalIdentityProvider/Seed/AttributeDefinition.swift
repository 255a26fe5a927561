/// What a tenant can know of a person, and the claim that carries it.
package struct AttributeDefinition: Codable, Sendable {
    package var name: String
    package var type: String
    package var regex: String?
    package var maximumLength: Int
    package var claim: String?

    init(_ name: String, claim: String? = nil) {
        self.name = name
        type = "string"
        maximumLength = 256
        self.claim = claim
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decodeIfPresent(String.self, forKey: .type) ?? "string"
        regex = try container.decodeIfPresent(String.self, forKey: .regex)
        maximumLength = try container.decodeIfPresent(Int.self, forKey: .maximumLength) ?? 256
        claim = try container.decodeIfPresent(String.self, forKey: .claim)
    }

    static let builtIn = [
        AttributeDefinition("displayName", claim: "name"), AttributeDefinition("givenName", claim: "given_name"),
        AttributeDefinition("surname", claim: "family_name"), AttributeDefinition("city"),
        AttributeDefinition("country"), AttributeDefinition("state"), AttributeDefinition("postalCode"),
        AttributeDefinition("streetAddress"), AttributeDefinition("jobTitle"),
    ]

    var isWellFormed: Bool {
        guard let regex else { return true }
        return (try? Regex(regex)) != nil  // the question is whether it parses
    }

    func accepts(_ value: JSON) -> Bool {
        guard let text = value.text, !text.isEmpty, text.count <= maximumLength else { return false }
        if type == "integer", Int(text) == nil { return false }
        guard let pattern = regex else { return true }
        guard let regex = try? Regex(pattern) else { return false }  // refused when the seed was read
        return text.wholeMatch(of: regex) != nil
    }
}
