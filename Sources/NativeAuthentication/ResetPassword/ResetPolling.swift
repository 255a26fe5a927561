import OAuth
import TokenManagement

/// Asks until a new password is in force.
struct ResetPolling: Sendable {
    private let flow: NativeFlow
    private let token: Secret

    /// Seconds between two requests.
    private let interval: Int64

    /// How often is asked again after the first time.
    private static let repetitions = 5
    private static let longestInterval: Int64 = 60

    /// Takes the answer to the new password.
    init(flow: NativeFlow, reply: NativeResponse) throws(NativeRequestFailure) {
        self.flow = flow
        token = try reply.continuationToken()
        guard let interval = reply.object["poll_interval"]?.seconds, interval >= 0 else {
            throw reply.unexpected("does not say how often to ask")
        }
        self.interval = min(interval, Self.longestInterval)
    }

    func outcome() async throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>)
        -> SignInAfterResetPasswordState
    {
        var reply: NativeResponse
        var left = Self.repetitions
        do {
            reply = try await poll()
            while left > 0, ["in_progress", "not_started"].contains(reply.object["status"]?.text) {
                left -= 1
                try await pause()
                reply = try await poll()
            }
        } catch {
            let reason = PasswordRequiredError(error, in: flow) {
                $0.refusal?.isInvalidPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, reason.isInvalidPassword ? state(token) : nil)
        }
        return try read(reply)
    }

    private func read(
        _ reply: NativeResponse
    ) throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) -> SignInAfterResetPasswordState {
        switch reply.object["status"]?.text {
        case "succeeded": return SignInAfterResetPasswordState(flow: flow, token: reply.optionalToken)
        case "failed":
            let reason = PasswordRequiredError(reply.unexpected("says that the password was not set"), in: flow)
            throw StepError(reason, reply.optionalToken.map(state))
        case "in_progress", "not_started":
            let reason = PasswordRequiredError(reply.unexpected("says that the password is not set yet"), in: flow)
            throw StepError(reason, nil)
        default: throw StepError(PasswordRequiredError(reply.unexpected("has no status"), in: flow), nil)
        }
    }

    private func state(_ token: Secret) -> ResetPasswordRequiredState {
        ResetPasswordRequiredState(flow: flow, token: token)
    }

    private func poll() async throws(NativeRequestFailure) -> NativeResponse {
        try await flow.send(.resetPoll, flow.form(token))
    }

    private func pause() async throws(NativeRequestFailure) {
        do {
            try await flow.configuration.tokenOptions.pause(.seconds(interval))
        } catch {
            throw flow.failed(error)
        }
    }
}
