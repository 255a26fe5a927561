import OAuth
import OpenIDConnect
import TokenStorage

extension AcquisitionError {
    /// The failure as a throttle keeps it: codes and numbers, none of the issuer's prose.
    var throttled: JSONValue.Object {
        switch self {
        case .unavailable(let error, _):
            JSONValue.Object([
                ("kind", "unavailable"), ("status", .number("\(error.status)")),
                ("error", error.error.map { .string($0.rawValue) } ?? .null),
            ])
        case .interactionRequired(.refusedWithoutReason(let status)):
            JSONValue.Object([("kind", "unusable"), ("status", .number("\(status)"))])
        case .interactionRequired(.refused(let error, _)), .policyRequired(let error),
            .interactionRequired(.passwordReset(let error)):
            Self.members(error, kind: "refused")
        case .possiblyConsumed(let error, let since, let program, _):
            JSONValue.Object(
                Self.members(error ?? OAuthError(code: .invalidGrant), kind: "possiblyConsumed").members
                    + [("since", .number("\(since)")), ("program", .string(program))]
            )
        default: JSONValue.Object()
        }
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
        case "unusable": self = .interactionRequired(.refusedWithoutReason(status: status))
        default:
            let error = IssuerUnavailable(
                status: status,
                retryAfter: .seconds(throttle.expiresAt - now),
                error: failure["error"]?.text.map(OAuthError.Code.named)
            )
            self = .unavailable(error, isThrottled: true)
        }
    }

    /// What a refusal that asks for a person means.
    init(refused error: OAuthError, events: [StoreEvent] = []) {
        switch error.meaning {
        case .policyRequired: self = .policyRequired(error)
        case .passwordReset: self = .interactionRequired(.passwordReset(error))
        default: self = .interactionRequired(.refused(error, events: events))
        }
    }

    private static func members(_ error: OAuthError, kind: String) -> JSONValue.Object {
        JSONValue.Object([
            ("kind", .string(kind)), ("error", .string(error.code.rawValue)),
            ("suberror", error.suberror.map { .string($0) } ?? .null),
            ("error_codes", .array(error.numbers.map { .number("\($0)") })), ("status", .number("\(error.status)")),
        ])
    }

    private static func error(_ failure: JSONValue.Object) -> OAuthError {
        OAuthError(failure, status: failure["status"]?.seconds.map(Int.init) ?? 400)
            ?? OAuthError(code: .invalidGrant)
    }
}
