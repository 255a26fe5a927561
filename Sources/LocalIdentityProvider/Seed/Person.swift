/// A user the seed creates.
package struct Person: Codable, Sendable {
    /// The object id; made up when absent.
    package var id: String?
    package var email: String
    /// Absent for someone who signs in with codes.
    package var password: String?
    package var attributes: [String: String]
    package var methods: [AuthMethod]
    package var isDisabled: Bool
    package var mustResetPassword: Bool

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decodeIfPresent(String.self, forKey: .id)
        email = try container.decode(String.self, forKey: .email)
        password = try container.decodeIfPresent(String.self, forKey: .password)
        attributes = try container.decodeIfPresent([String: String].self, forKey: .attributes) ?? [:]
        methods = try container.decodeIfPresent([AuthMethod].self, forKey: .methods) ?? []
        isDisabled = try container.decodeIfPresent(Bool.self, forKey: .isDisabled) ?? false
        mustResetPassword = try container.decodeIfPresent(Bool.self, forKey: .mustResetPassword) ?? false
    }
}
