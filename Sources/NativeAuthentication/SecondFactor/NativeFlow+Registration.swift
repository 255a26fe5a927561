import OAuth
import OpenIDConnect

extension NativeFlow {
    /// Has a code sent to a contact, or signs in where the contact was verified before.
    func register(
        _ contact: String,
        as method: AuthMethod,
        _ token: Secret,
        _ methods: [AuthMethod]
    ) async throws(ContactFailure) -> RegisterStrongAuthChallengeResult {
        guard !contact.allSatisfy(\.isWhitespace) else {
            let reason = RegisterStrongAuthChallengeError(.invalidInput, "the contact is empty", correlationID)
            throw ContactFailure(reason: reason, endsFlow: false)
        }
        do throws(NativeRequestFailure) {
            var form = form(token)
            form.append("challenge_type", method.challengeType)
            form.append("challenge_channel", method.channelTargetType.value)
            form.append("challenge_target", contact)
            return try await answer(to: try await send(.registerChallenge, form), token, methods)
        } catch {
            let reason = RegisterStrongAuthChallengeError(error, in: self) { failure in
                guard let refusal = failure.refusal(at: .registerChallenge) else { return nil }
                if refusal.isBlocked { return .verificationContactBlocked }
                return refusal.numbers.first == 901_001 ? .invalidInput : nil
            }
            throw ContactFailure(reason: reason, endsFlow: error.endsFlow || error.isRedirect)
        }
    }

    private func answer(
        to reply: NativeResponse,
        _ token: Secret,
        _ methods: [AuthMethod]
    ) async throws(NativeRequestFailure) -> RegisterStrongAuthChallengeResult {
        switch try reply.challenge() {
        case .code(let delivery, let next):
            return .verificationRequired(
                RegisterStrongAuthVerificationRequiredState(
                    flow: self,
                    registrationToken: token,
                    token: next,
                    authMethods: methods,
                    delivery: delivery
                )
            )
        case .preverified(let next):
            do throws(NativeRequestFailure) {
                return .completed(try await finishRegistration(next))
            } catch {
                throw error.ending()
            }
        case .password: throw reply.unexpected("asks for a password where a code is due").ending()
        }
    }

    /// Completes the registration and signs in with the scope and the claims that the flow began with; no code is due
    /// where the contact was verified before.
    func finishRegistration(
        _ token: Secret,
        code: Secret? = nil
    ) async throws(NativeRequestFailure) -> NativeAuthUserAccount {
        var form = form(token)
        let grant: NativeGrant.Name = code == nil ? .continuation : .code
        form.append("grant_type", grant.rawValue)
        form.append("oob", code)
        let next = try await send(.registerContinue, form).continuationToken()
        do throws(NativeRequestFailure) {
            return try await tokens(.registration, next)
        } catch {
            throw error.ending()
        }
    }
}

extension NativeRequestFailure {
    var isRedirect: Bool {
        if case .redirect = cause { true } else { false }
    }
}

/// Why a contact was not challenged.
struct ContactFailure: Error {
    let reason: RegisterStrongAuthChallengeError

    /// Whether no other contact can be challenged in this flow.
    let endsFlow: Bool
}
