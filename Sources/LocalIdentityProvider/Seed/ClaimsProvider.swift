/// A web service that adds claims before a token is signed.
package struct ClaimsProvider: Codable, Sendable {
    /// What happens when the service does not answer as agreed.
    package enum FailureRule: String, Codable, Sendable {
        case refuse
        case omit
    }

    package var url: String
    package var timeoutMilliseconds: Int
    package var onFailure: FailureRule
    /// The service's name of a claim, and the name in the token.
    package var claims: [String: String]

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(String.self, forKey: .url)
        timeoutMilliseconds = try container.decodeIfPresent(Int.self, forKey: .timeoutMilliseconds) ?? 2000
        onFailure = try container.decodeIfPresent(FailureRule.self, forKey: .onFailure) ?? .refuse
        claims = try container.decodeIfPresent([String: String].self, forKey: .claims) ?? [:]
    }
}
