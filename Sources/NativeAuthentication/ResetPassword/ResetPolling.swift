import HTTPTransport
package import OAuth
import OpenIDConnect
import TokenManagement

/// Asks until a new password is in force.
struct ResetPolling: Sendable {
    private let flow: NativeFlow
    private let token: Secret

    /// Between two requests.
    private let interval: Duration

    /// How often is asked again after the first time.
    private static let repetitions = 5
    private static let longestInterval = Duration.seconds(10)

    /// Takes the answer to the new password.
    init(flow: NativeFlow, reply: NativeResponse) throws(NativeRequestFailure) {
        self.flow = flow
        token = try reply.continuationToken()
        guard let interval = reply.object["poll_interval"]?.duration, interval >= .zero else {
            throw reply.unexpected("does not say how often to ask")
        }
        self.interval = min(interval, Self.longestInterval)
    }

    func outcome() async throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>)
        -> SignInAfterResetPasswordState
    {
        let reply: NativeResponse
        do {
            reply = try await lastReply()
        } catch {
            let isRefused = error.refusal?.isInvalidPassword == true
            let failure = isRefused ? error : error.advising(.signInAfterSubmission)
            let reason = PasswordRequiredError(failure, in: flow) { _ in isRefused ? .invalidPassword : nil }
            throw StepError(reason, isRefused ? state(token) : nil)
        }
        return try read(reply)
    }

    /// Asks until the issuer has decided, or until the tries or the time have run out; an outage counts as a try.
    private func lastReply() async throws(NativeRequestFailure) -> NativeResponse {
        var time = PollingTime(limit: flow.configuration.tokenOptions.limits.total)
        var triesLeft = Self.repetitions
        while true {
            let wait: Duration
            do throws(NativeRequestFailure) {
                let reply = try await flow.send(.resetPoll, flow.form(token), within: time.left)
                let isPending = ["in_progress", "not_started"].contains(reply.object["status"])
                guard isPending, triesLeft > 0, let pause = time.pause(interval) else { return reply }
                wait = pause
            } catch {
                let wanted = min(max(interval, error.retryAfter ?? .zero), Self.longestInterval)
                guard error.isOutage, triesLeft > 0, let pause = time.pause(wanted) else { throw error }
                wait = pause
            }
            triesLeft -= 1
            try await pause(wait)
        }
    }

    private func read(
        _ reply: NativeResponse
    ) throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) -> SignInAfterResetPasswordState {
        switch reply.object["status"] {
        case "succeeded": return SignInAfterResetPasswordState(flow: flow, token: reply.optionalToken)
        case "failed":
            guard let next = reply.optionalToken else {
                let failure = reply.unexpected("says that the password was not set")
                throw StepError(PasswordRequiredError(failure, in: flow), nil)
            }
            let flaw = "the issuer's answer says that the password was not set"
            throw StepError(PasswordRequiredError(.invalidPassword, flaw, reply.correlationID), state(next))
        case "in_progress", "not_started": throw undecided(reply, "says that the password is not set yet")
        default: throw undecided(reply, "has no status")
        }
    }

    private func undecided(
        _ reply: NativeResponse,
        _ flaw: String
    ) -> StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState> {
        let failure = reply.unexpected(flaw).advising(.signInAfterSubmission)
        return StepError(PasswordRequiredError(failure, in: flow), nil)
    }

    private func state(_ token: Secret) -> ResetPasswordRequiredState {
        ResetPasswordRequiredState(flow: flow, token: token)
    }

    private func pause(_ duration: Duration) async throws(NativeRequestFailure) {
        do {
            try await flow.configuration.tokenOptions.pause(duration)
        } catch {
            throw flow.failed(error)
        }
    }
}

extension Remedy {
    /// What to do after a new password was submitted, if nothing is known of it.
    package static let signInAfterSubmission = Remedy.signIn(
        "the new password was submitted and may be in force, sign in with it"
    )
}

/// The time that all the polls of a reset may take, with the pauses between them.
private struct PollingTime {
    private let limit: Duration
    private let start = ContinuousClock.now
    private var paused = Duration.zero

    init(limit: Duration) { self.limit = limit }

    /// For the next request.
    var left: Duration { max(limit - max(start.duration(to: .now), paused), .milliseconds(1)) }

    /// The next pause, which leaves a quarter of the time for the request behind it; nil where the time is too short.
    mutating func pause(_ wanted: Duration) -> Duration? {
        let room = left - limit / 4
        guard room > .zero else { return nil }
        let pause = min(wanted, room)
        paused += pause
        return pause
    }
}

extension NativeRequestFailure {
    /// How long the issuer asks to be left alone.
    fileprivate var retryAfter: Duration? {
        guard case .failed(let error as IssuerUnavailable) = cause else { return nil }
        return error.retryAfter
    }

    /// Whether the network or the issuer failed in a way that may pass.
    fileprivate var isOutage: Bool {
        switch cause {
        case .failed(is IssuerUnavailable): true
        case .failed(let error as HTTPTransportError): error.isTransient
        default: false
        }
    }

    /// Whether the issuer may have done what it was asked for.
    var mayHaveTakenEffect: Bool {
        switch cause {
        case .redirect, .refused: false
        case .failed(let error): !isUnsent && (error as? IssuerUnavailable)?.status != 429
        case .unexpected: true
        }
    }
}
