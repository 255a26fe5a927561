package import NativeAuthentication

extension SignInStartResult {
    package var codeState: SignInCodeRequiredState {
        get throws {
            guard case .codeRequired(let value) = self else { throw ExpectationFailure("codeState: \(self)") }
            return value
        }
    }

    package var passwordState: SignInPasswordRequiredState {
        get throws {
            guard case .passwordRequired(let value) = self else { throw ExpectationFailure("passwordState: \(self)") }
            return value
        }
    }

    package var mfaState: AwaitingMFAState {
        get throws {
            guard case .awaitingMFA(let value) = self else { throw ExpectationFailure("mfaState: \(self)") }
            return value
        }
    }

    package var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }
}

extension SignInResult {
    package var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }

    package var mfaState: AwaitingMFAState {
        get throws {
            guard case .awaitingMFA(let value) = self else { throw ExpectationFailure("mfaState: \(self)") }
            return value
        }
    }

    package var registration: RegisterStrongAuthState {
        get throws {
            guard case .strongAuthMethodRegistration(let value) = self else {
                throw ExpectationFailure("registration: \(self)")
            }
            return value
        }
    }
}

extension RegisterStrongAuthChallengeResult {
    package var verification: RegisterStrongAuthVerificationRequiredState {
        get throws {
            guard case .verificationRequired(let value) = self else {
                throw ExpectationFailure("verification: \(self)")
            }
            return value
        }
    }

    package var account: NativeAuthUserAccount {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("account: \(self)") }
            return value
        }
    }
}

extension SignUpStartResult {
    package var codeState: SignUpCodeRequiredState {
        get throws {
            guard case .codeRequired(let value) = self else { throw ExpectationFailure("codeState: \(self)") }
            return value
        }
    }
}

extension SignUpVerifyCodeResult {
    package var done: SignInAfterSignUpState {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("done: \(self)") }
            return value
        }
    }

    package var passwordState: SignUpPasswordRequiredState {
        get throws {
            guard case .passwordRequired(let value) = self else { throw ExpectationFailure("passwordState: \(self)") }
            return value
        }
    }

    package var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }
}

extension SignUpPasswordResult {
    package var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }
}

extension SignUpAttributesResult {
    package var attributesState: SignUpAttributesRequiredState {
        get throws {
            guard case .attributesRequired(let value) = self else {
                throw ExpectationFailure("attributesState: \(self)")
            }
            return value
        }
    }

    package var done: SignInAfterSignUpState {
        get throws {
            guard case .completed(let value) = self else { throw ExpectationFailure("done: \(self)") }
            return value
        }
    }
}
