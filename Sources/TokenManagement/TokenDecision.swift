package import OAuth
package import TokenStorage

/// What a silent request comes to, by what the store knows.
package enum TokenDecision: Sendable {
    /// A stored token is the answer.
    case serve(TokenResult)

    /// These refresh tokens are tried in order; the fallback serves where they fail for the right reason.
    case refresh([RefreshCandidate], at: Authority, fallback: Fallback?)

    case fail(AcquisitionError)
}
