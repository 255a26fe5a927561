/// A B2C policy: one browser journey with an issuer of its own.
package struct UserFlow: Codable, Sendable, Hashable {
    /// What the journey is for.
    package enum Kind: String, Codable, Sendable {
        case signUpOrSignIn = "susi"
        case editProfile = "edit_profile"
        case resetPassword = "reset"
    }

    /// Lower case, such as `b2c_1_susi`.
    package var name: String
    package var kind: Kind
    package var attributePages: [[FlowAttribute]]
    package var accessTokenLifetime: Int
    package var refreshTokenLifetime: Int

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name).lowercased()
        kind = try container.decodeIfPresent(Kind.self, forKey: .kind) ?? .signUpOrSignIn
        attributePages = try container.decodeIfPresent([[FlowAttribute]].self, forKey: .attributePages) ?? []
        accessTokenLifetime =
            try container.decodeIfPresent(Int.self, forKey: .accessTokenLifetime) ?? Lifetime.accessToken
        refreshTokenLifetime =
            try container.decodeIfPresent(Int.self, forKey: .refreshTokenLifetime) ?? Lifetime.refreshToken
    }

    package static func == (lhs: UserFlow, rhs: UserFlow) -> Bool { lhs.name == rhs.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
