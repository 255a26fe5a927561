import OAuth
import OpenIDConnect
import TokenStorage

extension AcquisitionError {
    /// The failure as a throttle keeps it: codes, numbers and the claims to meet, none of the issuer's prose.
    var throttled: JSONValue.Object {
        switch (code, interaction) {
        case (.unavailable, _):
            JSONValue.Object([
                ("kind", "unavailable"), ("status", .number("\(status ?? 0)")),
                ("error", outageCode.map { .string($0.rawValue) } ?? .null),
            ])
        case (_, .refusedWithoutReason?):
            JSONValue.Object([("kind", "unusable"), ("status", .number("\(status ?? 0)"))])
        case (_, .refused?), (_, .passwordReset?), (.policyRequired, _): Self.members(refusal, kind: "refused")
        case (.possiblyConsumed, _):
            JSONValue.Object(
                Self.members(refusal, kind: "possiblyConsumed").members
                    + [
                        ("since", .number("\(sentAt?.unixSeconds ?? 0)")), ("program", .string(program ?? "")),
                    ]
            )
        default: JSONValue.Object()
        }
    }

    /// What the issuer called an outage.
    private var outageCode: OAuthError.Code? {
        if case .unavailable(let outage)? = failure?.kind { outage.error } else { nil }
    }

    /// The failure that a throttle repeats.
    init(_ throttle: Throttle, now: Int64) {
        let failure = throttle.failure
        let status = failure["status"]?.seconds.map(Int.init) ?? 0
        switch failure["kind"]?.text {
        case "refused": self.init(refused: Self.error(failure))
        case "possiblyConsumed":
            self = .possiblyConsumed(
                Self.error(failure),
                since: failure["since"]?.seconds ?? 0,
                program: failure["program"]?.text ?? "",
                events: []
            )
        case "unusable": self = .refusedWithoutReason(status: status)
        case "unpublishedKey":
            self = .unpublishedKey(for: .seconds(throttle.expiresAt.seconds(since: now)), isThrottled: true)
        default:
            let error = IssuerUnavailable(
                status: status,
                retryAfter: .seconds(throttle.expiresAt.seconds(since: now)),
                error: failure["error"]?.text.map(OAuthError.Code.named)
            )
            self = .unavailable(error, isThrottled: true)
        }
    }

    /// An ID token is signed with a key that the issuer may publish by now; its keys are fetched again after a while.
    static func unpublishedKey(for wait: Duration, isThrottled: Bool = false) -> AcquisitionError {
        let words = "the issuer signs with a key that it had not published when it was last asked for its keys"
        let outage = IssuerUnavailable(status: 503, retryAfter: wait)
        return .unavailable(outage, isThrottled: isThrottled, words)
    }

    /// The same as a throttle keeps it.
    static let unpublishedKeyMembers = JSONValue.Object([("kind", "unpublishedKey")])

    /// What a refusal that asks for a person means.
    init(refused error: OAuthError, events: [StoreEvent] = []) {
        switch error.meaning {
        case .policyRequired: self = .policyRequired(error)
        case .passwordReset: self = .passwordReset(error)
        default: self = .refused(error, events: events)
        }
    }

    private static func members(_ refusal: OAuthError?, kind: String) -> JSONValue.Object {
        let error = refusal ?? OAuthError(code: .invalidGrant)
        return JSONValue.Object([
            ("kind", .string(kind)), ("error", .string(error.code.rawValue)),
            ("suberror", error.suberror.map { .string($0) } ?? .null),
            ("error_codes", .array(error.numbers.map { .number("\($0)") })), ("status", .number("\(error.status)")),
            ("claims", error.claims.map { .string($0) } ?? .null),
        ])
    }

    private static func error(_ failure: JSONValue.Object) -> OAuthError {
        OAuthError(failure, status: failure["status"]?.seconds.map(Int.init) ?? 400)
            ?? OAuthError(code: .invalidGrant)
    }
}
