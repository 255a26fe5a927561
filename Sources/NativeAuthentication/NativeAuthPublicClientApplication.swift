public import HTTPTransport
import Logging
import OAuth
import OpenIDConnect
public import SignIn
import TokenManagement
public import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An app that signs people up and in on its own pages, without a browser, and keeps their sessions
/// (MSAL's `MSALNativeAuthPublicClientApplication`).
///
/// Every step returns what may come next, as a value that has the methods which are legal then, and no others.
///
/// ```swift
/// let application = NativeAuthPublicClientApplication(configuration, store: store, transport: AsyncHTTPTransport())
/// switch try await application.signIn(SignInParameters(username: "bo@example.org")) {
/// case .codeRequired(let state): try await state.submitCode(code)
/// ...
/// }
/// ```
public final class NativeAuthPublicClientApplication: Sendable {
    /// What the application was made with.
    public let configuration: NativeAuthConfiguration

    /// Where sessions are kept.
    public let store: TokenStore
    package let transport: any HTTPTransport
    let manager: TokenManager

    /// An application that keeps its sessions in a store.
    public init(_ configuration: NativeAuthConfiguration, store: TokenStore, transport: any HTTPTransport) {
        self.configuration = configuration
        self.store = store
        self.transport = TranslatedTransport(transport)
        manager = TokenManager(
            store: store,
            clientID: configuration.clientID,
            transport: transport,
            options: configuration.tokenOptions
        )
    }

    var connection: NativeConnection { NativeConnection(configuration: configuration, transport: transport) }

    var now: @Sendable () -> Date { store.options.now }

    /// Begins a sign-in.
    ///
    /// A password that the issuer does not ask for is not sent.
    public func signIn(_ parameters: SignInParameters) async throws(SignInStartError) -> SignInStartResult {
        var flow = NativeFlow(self, username: parameters.username, correlationID: parameters.correlationID)
        flow.scope = parameters.scope
        flow.claims = parameters.claims
        guard !flow.hasBlankUsername else { throw flow.blankUsername(.invalidUsername) }
        guard parameters.password?.count != 0 else { throw flow.emptyPassword(.invalidCredentials) }
        do {
            return try await flow.startSignIn(parameters.password)
        } catch {
            throw SignInStartError(error, in: flow) { failure in
                if failure.refusal(at: .initiate)?.code == .userNotFound { return .userNotFound }
                guard let refusal = failure.refusal(at: .token) else { return nil }
                if refusal.isUserNotFound { return .userNotFound }
                return refusal.isWrongPassword ? .invalidCredentials : nil
            }
        }
    }

    /// Begins a sign-up; a code to verify the username always comes first.
    public func signUp(_ parameters: SignUpParameters) async throws(SignUpStartError) -> SignUpStartResult {
        var flow = NativeFlow(self, username: parameters.username, correlationID: parameters.correlationID)
        flow.isSignUp = true
        guard !flow.hasBlankUsername else { throw flow.blankUsername(.invalidUsername) }
        guard parameters.password?.count != 0 else { throw flow.emptyPassword(.invalidPassword) }
        let attributes = parameters.attributes?.serializedAttributes
        guard attributes != nil || parameters.attributes == nil else {
            throw SignUpStartError(
                .generalError,
                JSONValue.Object.attributeFlaw,
                flow.correlationID,
                remedy: .correct("give texts")
            )
        }
        do {
            return .codeRequired(try await flow.startSignUp(parameters.password, attributes: attributes))
        } catch {
            let names = error.invalidAttributes
            if error.refusal(at: .signUpStart)?.isInvalidAttributes(names) == true { return .attributesInvalid(names) }
            throw SignUpStartError(error, in: flow) { failure in
                failure.refusal(at: .signUpStart).flatMap {
                    SignUpStartErrorKind(refused: $0, saying: failure.wholeDescription ?? "")
                }
            }
        }
    }

    /// Begins a password reset; a code to verify the username comes first.
    public func resetPassword(
        username: String,
        correlationID: UUID? = nil
    ) async throws(ResetPasswordStartError) -> ResetPasswordCodeRequiredState {
        let flow = NativeFlow(self, username: username, correlationID: correlationID)
        guard !flow.hasBlankUsername else { throw flow.blankUsername(.invalidUsername) }
        do {
            let token = try await flow.start(.resetStart)
            let (delivery, next) = try await flow.code(.resetChallenge, token)
            return ResetPasswordCodeRequiredState(flow: flow, token: next, delivery: delivery)
        } catch {
            throw ResetPasswordStartError(error, in: flow) { failure in
                guard let refusal = failure.refusal(at: .resetStart) else { return nil }
                if refusal.code == .userNotFound { return .userNotFound }
                let hasNone = refusal.code == .invalidRequest && refusal.numbers.first == 500_222
                return hasNone ? .userDoesNotHavePassword : nil
            }
        }
    }
}

extension SignUpStartErrorKind {
    /// nil: a general error.
    fileprivate init?(refused refusal: OAuthError, saying text: String) {
        // One number is for every parameter; the text says which.
        let isAboutUsername =
            refusal.code == .invalidRequest && refusal.numbers.first == 90_100
            && text.contains("username parameter is empty or not valid")
        if isAboutUsername {
            self = .invalidUsername
        } else if refusal.code == .userAlreadyExists {
            self = .userAlreadyExists
        } else if refusal.isInvalidPassword {
            self = .invalidPassword
        } else {
            return nil
        }
    }
}

extension NativeAuthPublicClientApplication {
    /// The account that is signed in, as stored; the network is not used.
    ///
    /// Where several may be signed in it is the one last signed in or refreshed.
    ///
    /// - Returns: nil if no account is signed in.
    /// - Throws: `TokenStoreError`.
    public func currentAccount() throws -> NativeAuthUserAccount? { try accounts().first }

    /// Every account that is signed in, the one last signed in or refreshed first.
    ///
    /// - Throws: `TokenStoreError`.
    public func accounts() throws -> [NativeAuthUserAccount] { try accounts(in: store) }

    /// The account that is signed in, as stored; the network is not used.
    ///
    /// - Returns: nil if no account is signed in.
    /// - Throws: `TokenStoreError`.
    public func currentAccount() async throws -> NativeAuthUserAccount? { try await accounts().first }

    /// Every account that is signed in, the one last signed in or refreshed first.
    ///
    /// - Throws: `TokenStoreError`.
    public func accounts() async throws -> [NativeAuthUserAccount] {
        try await store.performRead { [self] store in try accounts(in: store) }
    }

    private func accounts(in store: TokenStore) throws -> [NativeAuthUserAccount] {
        let own = try ownAccounts(in: store)
        let found = try own.compactMap { account -> FoundAccount? in
            let token = try store.idTokens(of: account.id, client: configuration.clientID).first
            // The clock may have been set back since, and several may be used within a second: the record knows better.
            let use = own.count > 1 ? try lastUse(of: account.id, [.signIn, .refresh], in: store) : 0
            return token.map { FoundAccount(account: account, token: $0, lastUse: use) }
        }
        return found.sorted { ($0.lastUse, $0.token.updatedAt) > ($1.lastUse, $1.token.updatedAt) }.map { found in
            let idToken = found.token.idToken
            return NativeAuthUserAccount(application: self, account: found.account, idToken: idToken, scope: Scope([]))
        }
    }

    private struct FoundAccount {
        let account: Account
        let token: StoredIDToken
        let lastUse: Int64
    }

    /// Goes on in a browser with what an error calls for: ``NativeAuthError/browserRequest``.
    ///
    /// - Throws: `SignInError`, `TokenStoreError`.
    public func signIn(
        inBrowser request: InteractiveRequest,
        userAgent: any UserAgent = SystemBrowser()
    ) async throws -> NativeAuthUserAccount {
        guard let redirectURI = configuration.redirectURI else {
            throw SignInError.invalidRequest(
                "the configuration has no redirect URI",
                .correct("give the one that is registered")
            )
        }
        var browser = try PublicClientConfiguration(
            clientID: configuration.clientID,
            redirectURI: redirectURI,
            authority: configuration.authority
        )
        browser.tokenOptions = configuration.tokenOptions
        let app = try PublicClientApplication(browser, store: store, transport: transport, userAgent: userAgent)
        let result = try await app.acquireToken(request)
        return try await store.perform { [self] store in try adopt(result, scope: request.scope, in: store) }
    }

    /// Stores the tokens of a sign-in in one commit.
    func keep(_ tokens: SignedInTokens, scope: Scope) async throws -> NativeAuthUserAccount {
        let result = try await store.save(tokens)
        return try await store.perform { [self] store in try adopt(result, scope: scope, in: store) }
    }

    /// The account of a stored sign-in; signs out the previous account unless several are allowed.
    private func adopt(
        _ result: AuthenticationResult,
        scope: Scope,
        in store: TokenStore
    ) throws -> NativeAuthUserAccount {
        if !configuration.allowsSeveralAccounts {
            do {
                // Of several that sign in at once the last one stays.
                let own = try lastUse(of: result.account.id, [.signIn], in: store)
                for other in try ownAccounts(in: store) where other.id != result.account.id {
                    guard try lastUse(of: other.id, [.signIn], in: store) <= own else { continue }
                    try store.removeAccount(other.id, client: configuration.clientID)
                }
            } catch {
                // The sign-in itself is stored; the next one tries again.
                configuration.logger.warning("an account was not signed out", metadata: ["reason": "\(error)"])
            }
        }
        return NativeAuthUserAccount(
            application: self,
            account: result.account,
            idToken: result.idToken,
            scope: scope,
            pendingReason: result.pendingReason,
            declinedScope: result.declinedScope
        )
    }

    /// The accounts that came by native authentication or its browser: user flows have accounts of their own.
    private func ownAccounts(in store: TokenStore) throws -> [Account] {
        try store.signedInAccounts(client: configuration.clientID).filter {
            $0.userFlow == nil && isOwn($0)
        }
    }

    /// Whether this issuer vouches for the account: by its host, or by the name that its ID tokens have.
    private func isOwn(_ account: Account) -> Bool {
        configuration.authority.vouches(for: account.id)
            || account.id.hasIssuer && account.environment == configuration.authority.environment
    }

    /// The last entry of these kinds that the record of use has of the account; 0 where none is left.
    private func lastUse(of account: Account.ID, _ kinds: Set<StoreEvent.Kind>, in store: TokenStore) throws -> Int64 {
        let client = configuration.clientID.lowercased()
        let event = try store.events(of: account).first { event in
            kinds.contains(event.kind) && event.clientID?.lowercased() == client
        }
        return event?.id ?? 0
    }
}
