public import NativeAuthentication
import OAuth

extension SignInCodeRequiredState {
    /// Submits the code that the user received.
    public func submitCode(code: String, delegate: any SignInVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) {
                let result = try await submitCode(Secret(code))
                await delegate.hear(result) { delegate.onSignInVerifyCodeError(error: .unheard($0), newState: nil) }
            } catch {
                await delegate.onSignInVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    /// Has another code sent, which voids those before it.
    public func resendCode(delegate: any SignInResendCodeDelegate) {
        Task {
            do throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>) {
                let state = try await resendCode()
                await delegate.onSignInResendCodeCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onSignInResendCodeError(error: error.error, newState: error.state)
            }
        }
    }
}

extension SignInPasswordRequiredState {
    /// Submits the password.
    public func submitPassword(password: String, delegate: any SignInPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, SignInPasswordRequiredState>) {
                let result = try await submitPassword(Secret(password))
                await delegate.hear(result) {
                    delegate.onSignInPasswordRequiredError(error: .unheard($0), newState: nil)
                }
            } catch {
                await delegate.onSignInPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}

extension SignInAfterSignUpState {
    /// Signs the user in without another question.
    public func signIn(parameters: MSALNativeAuthSignInAfterSignUpParameters, delegate: any SignInAfterSignUpDelegate) {
        let (scope, claims) = (Scope(parameters.scopes ?? []), parameters.claimsRequest?.claims)
        Task {
            do throws(SignInAfterSignUpError) {
                let result = try await signIn(scope: scope, claims: claims)
                await delegate.hear(result) { delegate.onSignInAfterSignUpError(error: .unheard($0)) }
            } catch {
                await delegate.onSignInAfterSignUpError(error: error)
            }
        }
    }

    /// Signs the user in without another question.
    public func signIn(scopes: [String]? = nil, delegate: any SignInAfterSignUpDelegate) {
        let parameters = MSALNativeAuthSignInAfterSignUpParameters()
        parameters.scopes = scopes
        signIn(parameters: parameters, delegate: delegate)
    }
}

extension SignInAfterResetPasswordState {
    /// Signs the user in without another question.
    public func signIn(
        parameters: MSALNativeAuthSignInAfterResetPasswordParameters,
        delegate: any SignInAfterResetPasswordDelegate
    ) {
        let (scope, claims) = (Scope(parameters.scopes ?? []), parameters.claimsRequest?.claims)
        Task {
            do throws(SignInAfterResetPasswordError) {
                let result = try await signIn(scope: scope, claims: claims)
                await delegate.hear(result) { delegate.onSignInAfterResetPasswordError(error: .unheard($0)) }
            } catch {
                await delegate.onSignInAfterResetPasswordError(error: error)
            }
        }
    }

    /// Signs the user in without another question.
    public func signIn(scopes: [String]? = nil, delegate: any SignInAfterResetPasswordDelegate) {
        let parameters = MSALNativeAuthSignInAfterResetPasswordParameters()
        parameters.scopes = scopes
        signIn(parameters: parameters, delegate: delegate)
    }
}
