public import Foundation
import HTTPTransport
import Logging
import OAuth
package import SignIn
import TokenManagement
import TokenStorage

/// An app that signs users up and in on its own pages, and keeps their sessions; with a redirect URI it can also open
/// the issuer's pages.
///
/// `@unchecked Sendable`, as its superclass is: the one property that it adds is a constant of a `Sendable` type.
public final class MSALNativeAuthPublicClientApplication: MSALPublicClientApplication, @unchecked Sendable {
    package let native: NativeAuthPublicClientApplication

    /// `pages` is the client that the issuer's pages are opened for.
    package init(_ native: NativeAuthPublicClientApplication, pages: PublicClientConfiguration) throws {
        self.native = native
        try super.init(
            PublicClientApplication(
                pages,
                store: native.store,
                transport: native.transport,
                userAgent: Surroundings.current.userAgent
            )
        )
    }

    /// Opens the store and makes the application.
    public convenience init(nativeAuthConfiguration: MSALNativeAuthPublicClientApplicationConfig) throws {
        do {
            try self.init(
                NativeAuthPublicClientApplication(
                    nativeAuthConfiguration.native(),
                    store: nativeAuthConfiguration.openStore(),
                    transport: Surroundings.current.transport
                ),
                pages: nativeAuthConfiguration.client()
            )
        } catch {
            throw NSError.msal(error)
        }
    }

    /// The tenant of `configuration`, which must be one with native authentication.
    public convenience init(
        configuration: MSALPublicClientApplicationConfig,
        challengeTypes: MSALNativeAuthChallengeTypes
    ) throws {
        try self.init(
            nativeAuthConfiguration: MSALNativeAuthPublicClientApplicationConfig(configuration, challengeTypes)
        )
    }

    /// The tenant `tenantSubdomain.ciamlogin.com`.
    public convenience init(
        clientId: String,
        tenantSubdomain: String,
        challengeTypes: MSALNativeAuthChallengeTypes,
        redirectUri: String? = nil
    ) throws {
        let native = try MSALNativeAuthPublicClientApplicationConfig(
            clientId: clientId,
            tenantSubdomain: tenantSubdomain,
            challengeTypes: challengeTypes
        )
        native.redirectUri = redirectUri
        try self.init(nativeAuthConfiguration: native)
    }

    /// The account that is signed in; nil if there is none, or, as the log says then, the store cannot be read.
    public func getNativeAuthUserAccount(correlationId: UUID? = nil) -> MSALNativeAuthUserAccountResult? {
        do {
            return try native.currentAccount().map(MSALNativeAuthUserAccountResult.init)
        } catch {
            native.configuration.logger.error("the store cannot be read", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Begins a sign-in.
    public func signIn(parameters: MSALNativeAuthSignInParameters, delegate: any SignInStartDelegate) {
        begin(parameters.parameters, delegate)
    }

    /// Begins a sign-in, with a password where one is given.
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

    /// Begins a sign-up.
    public func signUp(parameters: MSALNativeAuthSignUpParameters, delegate: any SignUpStartDelegate) {
        begin(parameters.parameters, delegate)
    }

    /// Begins a sign-up, with a password where one is given.
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

    /// Begins a password reset.
    public func resetPassword(
        parameters: MSALNativeAuthResetPasswordParameters,
        delegate: any ResetPasswordStartDelegate
    ) {
        resetPassword(username: parameters.username, correlationId: parameters.correlationId, delegate: delegate)
    }

    /// Begins a password reset.
    public func resetPassword(
        username: String,
        correlationId: UUID? = nil,
        delegate: any ResetPasswordStartDelegate
    ) {
        Task {
            do throws(ResetPasswordStartError) {
                let state = try await native.resetPassword(username: username, correlationID: correlationId)
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
                await delegate.hear(try await native.signIn(parameters))
            } catch {
                await delegate.onSignInStartError(error: error)
            }
        }
    }

    private func begin(_ parameters: SignUpParameters, _ delegate: any SignUpStartDelegate) {
        Task {
            do throws(SignUpStartError) {
                switch try await native.signUp(parameters) {
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
