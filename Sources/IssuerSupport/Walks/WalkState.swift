import NativeAuthentication

/// Where a walk stands: every state there is, before them all and behind them all.
enum WalkState {
    case start
    case signInCode(SignInCodeRequiredState)
    case signInPassword(SignInPasswordRequiredState)
    case choice(AwaitingMFAState)
    case secondFactor(MFARequiredState)
    case registration(RegisterStrongAuthState)
    case verification(RegisterStrongAuthVerificationRequiredState)
    case signUpCode(SignUpCodeRequiredState)
    case signUpPassword(SignUpPasswordRequiredState)
    case attributes(SignUpAttributesRequiredState)
    case signedUp(SignInAfterSignUpState)
    case resetCode(ResetPasswordCodeRequiredState)
    case resetPassword(ResetPasswordRequiredState)
    case wasReset(SignInAfterResetPasswordState)
    case signedIn(NativeAuthUserAccount)

    init(_ result: SignInResult) {
        self =
            switch result {
            case .awaitingMFA(let state): .choice(state)
            case .strongAuthMethodRegistration(let state): .registration(state)
            case .completed(let account): .signedIn(account)
            }
    }

    init(_ result: SignInStartResult) {
        self =
            switch result {
            case .codeRequired(let state): .signInCode(state)
            case .passwordRequired(let state): .signInPassword(state)
            case .awaitingMFA(let state): .choice(state)
            case .strongAuthMethodRegistration(let state): .registration(state)
            case .completed(let account): .signedIn(account)
            }
    }

    init(_ result: RegisterStrongAuthChallengeResult) {
        self =
            switch result {
            case .verificationRequired(let state): .verification(state)
            case .completed(let account): .signedIn(account)
            }
    }

    init(_ result: SignUpVerifyCodeResult) {
        self =
            switch result {
            case .passwordRequired(let state): .signUpPassword(state)
            case .attributesRequired(let state): .attributes(state)
            case .completed(let state): .signedUp(state)
            }
    }

    init(_ result: SignUpPasswordResult) {
        self =
            switch result {
            case .attributesRequired(let state): .attributes(state)
            case .completed(let state): .signedUp(state)
            }
    }

    init(_ result: SignUpAttributesResult) {
        self =
            switch result {
            case .attributesRequired(let state), .attributesInvalid(_, let state): .attributes(state)
            case .completed(let state): .signedUp(state)
            }
    }

    /// The routes that a step from here calls.
    var routes: [String] {
        switch self {
        case .start: ["initiate", "challenge", "signup/start", "signup/challenge", "resetpassword/start"]
        case .signInCode, .signInPassword: ["token", "challenge", "introspect", "register/introspect", "revoke"]
        case .choice, .secondFactor: ["challenge", "token"]
        case .registration, .verification: ["register/challenge", "register/continue", "token"]
        case .signUpCode, .signUpPassword, .attributes: ["signup/continue", "signup/challenge"]
        case .signedUp, .wasReset: ["token", "introspect", "register/introspect"]
        case .resetCode: ["resetpassword/continue", "resetpassword/challenge"]
        case .resetPassword: ["resetpassword/submit", "resetpassword/poll_completion"]
        case .signedIn: ["token"]
        }
    }
}
