import IssuerSupport
import NativeAuthentication

extension SignInStartResult {
    var codeState: SignInCodeRequiredState {
        get throws {
            guard case .codeRequired(let value) = self else { throw ExpectationFailure("codeState: \(self)") }
            return value
        }
    }

    var passwordState: SignInPasswordRequiredState {
        get throws {
            guard case .passwordRequired(let value) = self else { throw ExpectationFailure("passwordState: \(self)") }
            return value
        }
    }

    var mfaState: AwaitingMFAState {
        get throws {
            guard case .awaitingMFA(let value) = self else { throw ExpectationFailure("mfaState: \(self)") }
            return value
        }
    }

    var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }
}

extension SignInResult {
    var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }

    var mfaState: AwaitingMFAState {
        get throws {
            guard case .awaitingMFA(let value) = self else { throw ExpectationFailure("mfaState: \(self)") }
            return value
        }
    }

    var registration: RegisterStrongAuthState {
        get throws {
            guard case .strongAuthMethodRegistration(let value) = self else {
                throw ExpectationFailure("registration: \(self)")
            }
            return value
        }
    }
}

extension RegisterStrongAuthChallengeResult {
    var verification: RegisterStrongAuthVerificationRequiredState {
        get throws {
            guard case .verificationRequired(let value) = self else {
                throw ExpectationFailure("verification: \(self)")
            }
            return value
        }
    }

    var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }
}

extension SignUpStartResult {
    var codeState: SignUpCodeRequiredState {
        get throws {
            guard case .codeRequired(let value) = self else { throw ExpectationFailure("codeState: \(self)") }
            return value
        }
    }
}

extension SignUpVerifyCodeResult {
    var done: SignInAfterSignUpState {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("done: \(self)") }
            return value
        }
    }

    var passwordState: SignUpPasswordRequiredState {
        get throws {
            guard case .passwordRequired(let value) = self else { throw ExpectationFailure("passwordState: \(self)") }
            return value
        }
    }

    var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }
}

extension SignUpPasswordResult {
    var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }
}

extension SignUpAttributesResult {
    var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }

    var done: SignInAfterSignUpState {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("done: \(self)") }
            return value
        }
    }
}
