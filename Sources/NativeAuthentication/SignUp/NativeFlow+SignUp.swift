package import OAuth
import OpenIDConnect

extension NativeFlow {
    /// What a step of a sign-up submits.
    enum SignUpSubmission {
        case code(Secret)
        case password(Secret)

        /// The attributes as they are sent.
        case attributes(String)
    }

    /// The result of a step of a sign-up.
    enum SignUpProgress {
        case credentialRequired(Secret)
        case attributesRequired(SignUpAttributesRequiredState)
        case completed(SignInAfterSignUpState)
    }

    /// Begins a sign-up and has the code sent, which always comes first.
    func startSignUp(_ password: Secret?, attributes: String?) async throws(NativeRequestFailure)
        -> SignUpCodeRequiredState
    {
        let token = try await start(.signUpStart, password: password, attributes: attributes)
        let (delivery, next) = try await code(.signUpChallenge, token)
        return SignUpCodeRequiredState(flow: self, token: next, delivery: delivery)
    }

    func continueSignUp(
        _ submission: SignUpSubmission,
        _ token: Secret
    ) async throws(NativeRequestFailure) -> SignUpProgress {
        var form = form(token)
        switch submission {
        case .code(let code):
            form.append("grant_type", NativeGrant.Name.code.rawValue)
            form.append("oob", code)
        case .password(let password):
            form.append("grant_type", NativeGrant.Name.password.rawValue)
            form.append("password", password)
        case .attributes(let attributes):
            form.append("grant_type", "attributes")
            form.append("attributes", attributes)
        }
        do throws(NativeRequestFailure) {
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

extension NativeRequestFailure {
    /// Whether the state from before the request is as good as it was, because the request was never sent.
    var keepsState: Bool { isUnsent && !endsFlow }

    /// The same with the advice to sign in, where the answer to what may have made the account was lost.
    func advisingSignInAfterSignUp() -> NativeRequestFailure {
        // What ends the flow was answered, by a request for more.
        endpoint == .signUpContinue && !endsFlow && mayHaveTakenEffect ? advising(.signInAfterLostSignUp) : self
    }
}

extension Remedy {
    /// What to do after a step of a sign-up, if nothing is known of its result.
    package static let signInAfterLostSignUp = Remedy.signIn("the account may exist by now, sign in to find out")
}

/// Something that the tenant wants to know of a person who signs up (MSAL's `MSALNativeAuthRequiredAttribute`).
public struct RequiredAttribute: Hashable, Sendable {
    /// The name of the attribute.
    public let name: String

    /// Such as `string`, `integer` or `boolean`.
    public let type: String

    /// Whether the sign-up needs it.
    public let required: Bool

    /// The pattern that a value has to match as a whole.
    public let regex: String?

    /// A name that is longer is not one that a person is asked for.
    private static let longestName = 256

    init?(_ object: JSONValue.Object) {
        guard let name = object["name"]?.text, name.utf8.count <= Self.longestName else { return nil }
        self.name = name
        type = object["type"]?.text ?? "string"
        required = object["required"] != .bool(false)
        regex = object["options"]?.object?["regex"]?.text
    }

    /// Whether `value` fits the pattern; true if there is none, or if only the issuer can judge.
    ///
    /// A long value is not judged, and neither is a pattern of another dialect or one that could take long to match.
    public func accepts(_ value: String) -> Bool {
        guard let regex, let pattern = AttributePattern(regex) else { return true }
        return pattern.matches(value) ?? true
    }
}

extension JSONValue.Object {
    static let attributeFlaw = "the attributes hold a value that JSON does not know"

    /// The attributes as they are sent; nil if JSON cannot hold a value.
    var serializedAttributes: String? {
        let text = JSONValue.object(self).serialized
        // A number is kept as it was written, whatever that is.
        return (try? JSONValue(parsing: text)) == nil ? nil : text
    }
}
