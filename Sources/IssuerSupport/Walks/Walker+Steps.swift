import NativeAuthentication
import OAuth

extension Walker {
    /// One step from `place`, by any method that its state has.
    mutating func step(from place: WalkState) async -> WalkStep {
        switch place {
        case .start: await begin()
        case .signInCode(let state): await go(state)
        case .signInPassword(let state): await go(state)
        case .choice(let state): await go(state)
        case .secondFactor(let state): await go(state)
        case .registration(let state): await go(state)
        case .verification(let state): await go(state)
        case .signUpCode(let state): await go(state)
        case .signUpPassword(let state): await go(state)
        case .attributes(let state): await go(state)
        case .signedUp(let state): await go(state)
        case .resetCode(let state): await go(state)
        case .resetPassword(let state): await go(state)
        case .wasReset(let state): await go(state)
        case .signedIn(let account): await go(account)
        }
    }

    private mutating func go(_ state: SignInCodeRequiredState) async -> WalkStep {
        if !isHonest, chance(1, in: 5) {
            do throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>) {
                return WalkStep(.signInCode(try await state.resendCode()))
            } catch { return WalkStep(error) { .signInCode($0) } }
        }
        do throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) {
            return WalkStep(WalkState(try await state.submitCode(code())))
        } catch { return WalkStep(error) { .signInCode($0) } }
    }

    private mutating func go(_ state: SignInPasswordRequiredState) async -> WalkStep {
        do throws(StepError<PasswordRequiredErrorKind, SignInPasswordRequiredState>) {
            return WalkStep(WalkState(try await state.submitPassword(knownPassword())))
        } catch { return WalkStep(error) { .signInPassword($0) } }
    }

    private mutating func go(_ state: AwaitingMFAState) async -> WalkStep {
        guard let method = method(of: state.authMethods) else { return WalkStep(.start) }
        do throws(StepError<MFARequestChallengeErrorKind, AwaitingMFAState>) {
            return WalkStep(.secondFactor(try await state.requestChallenge(method)))
        } catch { return WalkStep(error) { .choice($0) } }
    }

    private mutating func go(_ state: MFARequiredState) async -> WalkStep {
        if !isHonest, chance(1, in: 4), let method = method(of: state.authMethods) {
            do throws(StepError<MFARequestChallengeErrorKind, MFARequiredState>) {
                return WalkStep(.secondFactor(try await state.requestChallenge(method)))
            } catch { return WalkStep(error) { .secondFactor($0) } }
        }
        do throws(StepError<MFASubmitChallengeErrorKind, MFARequiredState>) {
            return WalkStep(.signedIn(try await state.submitChallenge(code())))
        } catch { return WalkStep(error) { .secondFactor($0) } }
    }

    private mutating func go(_ state: RegisterStrongAuthState) async -> WalkStep {
        guard let method = method(of: state.authMethods) else { return WalkStep(.start) }
        do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>) {
            return WalkStep(WalkState(try await state.challengeAuthMethod(method, contact: contactToRegister())))
        } catch { return WalkStep(error) { .registration($0) } }
    }

    private mutating func go(_ state: RegisterStrongAuthVerificationRequiredState) async -> WalkStep {
        if !isHonest, chance(1, in: 4), let method = method(of: state.authMethods) {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>) {
                return WalkStep(WalkState(try await state.challengeAuthMethod(method, contact: contactToRegister())))
            } catch { return WalkStep(error) { .verification($0) } }
        }
        do throws(StepError<RegisterStrongAuthSubmitChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>) {
            return WalkStep(.signedIn(try await state.submitChallenge(code())))
        } catch { return WalkStep(error) { .verification($0) } }
    }

    private mutating func go(_ state: SignUpCodeRequiredState) async -> WalkStep {
        if !isHonest, chance(1, in: 5) {
            do throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>) {
                return WalkStep(.signUpCode(try await state.resendCode()))
            } catch { return WalkStep(error) { .signUpCode($0) } }
        }
        do throws(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>) {
            return WalkStep(WalkState(try await state.submitCode(code())))
        } catch { return WalkStep(error) { .signUpCode($0) } }
    }

    private mutating func go(_ state: SignUpPasswordRequiredState) async -> WalkStep {
        do throws(StepError<PasswordRequiredErrorKind, SignUpPasswordRequiredState>) {
            return WalkStep(WalkState(try await state.submitPassword(newPassword())))
        } catch { return WalkStep(error) { .signUpPassword($0) } }
    }

    private mutating func go(_ state: SignUpAttributesRequiredState) async -> WalkStep {
        do throws(StepError<AttributesRequiredErrorKind, SignUpAttributesRequiredState>) {
            return WalkStep(WalkState(try await state.submitAttributes(attributes())))
        } catch { return WalkStep(error) { .attributes($0) } }
    }

    private mutating func go(_ state: SignInAfterSignUpState) async -> WalkStep {
        do throws(SignInAfterSignUpError) {
            return WalkStep(WalkState(try await state.signIn()))
        } catch { return WalkStep(error) }
    }

    private mutating func go(_ state: ResetPasswordCodeRequiredState) async -> WalkStep {
        if !isHonest, chance(1, in: 5) {
            do throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>) {
                return WalkStep(.resetCode(try await state.resendCode()))
            } catch { return WalkStep(error) { .resetCode($0) } }
        }
        do throws(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>) {
            return WalkStep(.resetPassword(try await state.submitCode(code())))
        } catch { return WalkStep(error) { .resetCode($0) } }
    }

    private mutating func go(_ state: ResetPasswordRequiredState) async -> WalkStep {
        do throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) {
            return WalkStep(.wasReset(try await state.submitPassword(newPassword())))
        } catch { return WalkStep(error) { .resetPassword($0) } }
    }

    private mutating func go(_ state: SignInAfterResetPasswordState) async -> WalkStep {
        do throws(SignInAfterResetPasswordError) {
            return WalkStep(WalkState(try await state.signIn(scope: Self.toDo)))
        } catch { return WalkStep(error) }
    }
}
