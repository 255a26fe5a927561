/// A web service that adds claims before a token is signed.
package struct ClaimsProvider: Codable, Sendable {
    /// What happens when the service does not answer as agreed.
    package enum FailureRule: String, Omittable, Sendable {
        case refuse
        case omit

        package init() { self = .refuse }
    }

    package var url: String
    package var timeoutMilliseconds: Int?
    @Defaulted package var onFailure: FailureRule
    /// The service's name of a claim, and the name in the token.
    @Defaulted package var claims: [String: String]
}
