public import OAuth

/// Tokens, and what the issuer's clock said when it sent them.
public struct TokenEndpointAnswer: Sendable {
    public let response: TokenResponse

    /// Unix seconds; nil where the answer had no `Date`.
    public let issuerNow: Int64?

    public init(response: TokenResponse, issuerNow: Int64? = nil) {
        self.response = response
        self.issuerNow = issuerNow
    }
}
