import OAuth
import OpenIDConnect

extension NativeFlow {
    /// What a step of a sign-up comes to.
    enum SignUpProgress {
        case credentialRequired(Secret)
        case attributesRequired(SignUpAttributesRequiredState)
        case completed(SignInAfterSignUpState)
    }

    /// Begins a sign-up and has the code sent, which always comes first.
    func startSignUp(_ password: Secret?, attributes: String?) async throws(NativeFailure) -> SignUpCodeRequiredState {
        let token = try await start(.signUpStart, password: password, attributes: attributes)
        let (delivery, next) = try await code(.signUpChallenge, token)
        return SignUpCodeRequiredState(flow: self, token: next, delivery: delivery)
    }

    func continueSignUp(
        _ grant: String,
        _ token: Secret,
        credential: (name: String, value: Secret)? = nil,
        attributes: String? = nil
    ) async throws(NativeFailure) -> SignUpProgress {
        var form = form(token)
        form.append("grant_type", grant)
        if let credential { form.append(credential.name, credential.value) }
        form.append("attributes", attributes)
        do throws(NativeFailure) {
            // An account that was created without a token is an account all the same.
            let reply = try await send(.signUpContinue, form)
            return .completed(SignInAfterSignUpState(flow: self, token: reply.optionalToken))
        } catch {
            guard let refusal = error.refusal, let next = error.continuationToken else { throw error }
            switch refusal.code {
            case .credentialRequired: return .credentialRequired(next)
            case .attributesRequired where !error.requiredAttributes.isEmpty:
                let asked = error.requiredAttributes
                return .attributesRequired(SignUpAttributesRequiredState(flow: self, token: next, attributes: asked))
            default: throw error
            }
        }
    }
}

extension NativeFailure {
    /// Whether the state from before the request is as good as it was, because the request was never sent.
    var keepsState: Bool { isUnsent && !endsFlow }
}
