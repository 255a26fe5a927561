/// A registered program.
package struct Client: Codable, Sendable, Identifiable {
    /// How people of a client prove who they are first.
    package enum SignUpMethod: String, Codable, Sendable {
        case code
        case password
    }

    /// When a client asks for a second factor.
    package enum SecondFactorRule: String, Codable, Sendable {
        case never
        case always
        /// Only when a claims request names `acrs`.
        case onClaim
    }

    package var id: String
    package var name: String
    /// Present only for a confidential client.
    package var secret: String?
    package var isNativeEnabled: Bool
    package var signUpMethod: SignUpMethod
    package var secondFactor: SecondFactorRule
    /// Exact, except that a loopback URI matches on every port.
    package var redirectURIs: [String]
    package var attributePages: [[FlowAttribute]]
    package var claimsProvider: ClaimsProvider?

    var isPublic: Bool { secret == nil }

    /// Whether `uri` is registered (RFC 8252 section 7.3 for the port).
    func allowsRedirect(to uri: String) -> Bool {
        guard !uri.contains("#") else { return false }
        return redirectURIs.contains { $0 == uri || Self.withoutLoopbackPort($0) == Self.withoutLoopbackPort(uri) }
    }

    private static func withoutLoopbackPort(_ uri: String) -> String {
        guard let match = uri.wholeMatch(of: /(https?:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]+)?(\/.*)?/)
        else {
            return uri
        }
        let path = match.2.map(String.init) ?? ""
        return String(match.1) + (path.isEmpty ? "/" : path)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? id
        secret = try container.decodeIfPresent(String.self, forKey: .secret)
        isNativeEnabled = try container.decodeIfPresent(Bool.self, forKey: .isNativeEnabled) ?? false
        signUpMethod = try container.decodeIfPresent(SignUpMethod.self, forKey: .signUpMethod) ?? .password
        secondFactor = try container.decodeIfPresent(SecondFactorRule.self, forKey: .secondFactor) ?? .never
        redirectURIs = try container.decodeIfPresent([String].self, forKey: .redirectURIs) ?? []
        attributePages = try container.decodeIfPresent([[FlowAttribute]].self, forKey: .attributePages) ?? []
        claimsProvider = try container.decodeIfPresent(ClaimsProvider.self, forKey: .claimsProvider)
    }
}
