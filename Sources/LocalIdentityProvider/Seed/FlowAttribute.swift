/// An attribute that a sign-up asks for.
package struct FlowAttribute: Codable, Sendable {
    package var name: String
    package var isRequired: Bool

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        isRequired = try container.decodeIfPresent(Bool.self, forKey: .isRequired) ?? true
    }
}
