import HTTPTransport

extension AcquisitionError {
    /// Whether someone has to sign in.
    public var needsInteraction: Bool {
        switch self {
        case .interactionRequired, .possiblyConsumed, .policyRequired: true
        default: false
        }
    }

    /// Whether the issuer cannot be reached or does not serve, which may pass.
    public var isOutage: Bool {
        switch self {
        case .unavailable, .timedOut: true
        case .network(let error): error.isTransient
        default: false
        }
    }

    /// Whether the issuer refused a token that may have been spent before.
    var isDoubt: Bool {
        if case .possiblyConsumed = self { true } else { false }
    }

    /// A word for the counters.
    var reason: String {
        switch self {
        case .interactionRequired: "interaction_required"
        case .possiblyConsumed: "possibly_consumed"
        case .unavailable(_, let isHeldBack): isHeldBack ? "throttled" : "unavailable"
        case .network: "network"
        case .unusableAnswer: "unusable_answer"
        case .clientMisconfigured: "client_misconfigured"
        case .invalidScope: "invalid_scope"
        case .policyRequired: "policy_required"
        case .declinedScopes: "declined_scopes"
        case .tooShort: "too_short"
        case .accountMismatch: "account_mismatch"
        case .invalidIDToken: "invalid_id_token"
        case .metadata: "metadata"
        case .timedOut: "timed_out"
        }
    }
}
