import HTTPTransport
import Logging
public import NativeAuthentication
import OAuth
public import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NativeAuthPublicClientApplication {
    /// An app whose sessions are in the store of `path`; nil: the usual place, where the command line keeps them too.
    ///
    /// - Throws: `TokenStoreError`.
    public convenience init(
        nativeAuthConfiguration configuration: MSALNativeAuthPublicClientApplicationConfig,
        path: StorePath? = nil
    ) throws {
        let path = path ?? .standard(environment: ProcessInfo.processInfo.environment)
        self.init(configuration, store: try TokenStore.open(at: path), transport: AsyncHTTPTransport())
    }

    /// The account that is signed in; nil if there is none, or, as the log says then, the store cannot be read.
    public func getNativeAuthUserAccount(correlationId: UUID? = nil) -> MSALNativeAuthUserAccountResult? {
        do {
            return try currentAccount().map(MSALNativeAuthUserAccountResult.init)
        } catch {
            configuration.logger.error("the store cannot be read", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    public func signIn(parameters: MSALNativeAuthSignInParameters, delegate: any SignInStartDelegate) {
        begin(parameters.parameters, delegate)
    }

    public func signIn(
        username: String,
        password: String? = nil,
        scopes: [String]? = nil,
        correlationId: UUID? = nil,
        delegate: any SignInStartDelegate
    ) {
        let parameters = MSALNativeAuthSignInParameters(username: username)
        parameters.password = password
        parameters.scopes = scopes
        parameters.correlationId = correlationId
        signIn(parameters: parameters, delegate: delegate)
    }

    public func signUp(parameters: MSALNativeAuthSignUpParameters, delegate: any SignUpStartDelegate) {
        begin(parameters.parameters, delegate)
    }

    public func signUp(
        username: String,
        password: String? = nil,
        attributes: [String: Any]? = nil,
        correlationId: UUID? = nil,
        delegate: any SignUpStartDelegate
    ) {
        let parameters = MSALNativeAuthSignUpParameters(username: username)
        parameters.password = password
        parameters.attributes = attributes
        parameters.correlationId = correlationId
        signUp(parameters: parameters, delegate: delegate)
    }

    public func resetPassword(
        parameters: MSALNativeAuthResetPasswordParameters,
        delegate: any ResetPasswordStartDelegate
    ) {
        resetPassword(username: parameters.username, correlationId: parameters.correlationId, delegate: delegate)
    }

    public func resetPassword(
        username: String,
        correlationId: UUID? = nil,
        delegate: any ResetPasswordStartDelegate
    ) {
        Task {
            do throws(ResetPasswordStartError) {
                let state = try await resetPassword(username: username, correlationID: correlationId)
                await delegate.onResetPasswordCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onResetPasswordStartError(error: error)
            }
        }
    }

    private func begin(_ parameters: SignInParameters, _ delegate: any SignInStartDelegate) {
        Task {
            do throws(SignInStartError) {
                await delegate.hear(try await signIn(parameters))
            } catch {
                await delegate.onSignInStartError(error: error)
            }
        }
    }

    private func begin(_ parameters: SignUpParameters, _ delegate: any SignUpStartDelegate) {
        Task {
            do throws(SignUpStartError) {
                switch try await signUp(parameters) {
                case .codeRequired(let state):
                    await delegate.onSignUpCodeRequired(
                        newState: state,
                        sentTo: state.delivery.sentTo,
                        channelTargetType: state.delivery.channelTargetType,
                        codeLength: state.delivery.codeLength
                    )
                case .attributesInvalid(let names): await delegate.onSignUpAttributesInvalid(attributeNames: names)
                }
            } catch {
                await delegate.onSignUpStartError(error: error)
            }
        }
    }
}

extension SignInStartDelegate {
    fileprivate func hear(_ result: SignInStartResult) {
        switch result {
        case .codeRequired(let state):
            onSignInCodeRequired(
                newState: state,
                sentTo: state.delivery.sentTo,
                channelTargetType: state.delivery.channelTargetType,
                codeLength: state.delivery.codeLength
            )
        case .passwordRequired(let state): onSignInPasswordRequired(newState: state)
        case .awaitingMFA(let state):
            hear(SignInResult.awaitingMFA(state)) { self.onSignInStartError(error: .unheard($0)) }
        case .strongAuthMethodRegistration(let state):
            hear(SignInResult.strongAuthMethodRegistration(state)) { self.onSignInStartError(error: .unheard($0)) }
        case .completed(let account): hear(account) { self.onSignInStartError(error: .unheard($0)) }
        }
    }
}
