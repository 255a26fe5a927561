public import HTTPTransport
public import OAuth
import Synchronization
public import TokenManagement
public import TokenStorage

/// An app that signs people in without a client secret, and keeps their sessions
/// (MSAL's `MSALPublicClientApplication`).
///
/// ```swift
/// let application = try PublicClientApplication(configuration, store: store, transport: AsyncHTTPTransport())
/// let account = try await application.acquireToken(InteractiveRequest(scope: "api://todo/Read")).account
/// let token = try await application.acquireTokenSilently(SilentRequest(account: account.id, scope: "api://todo/Read"))
/// ```
public final class PublicClientApplication: Sendable {
    /// What the application was made with.
    public let configuration: PublicClientConfiguration

    /// Where sessions are kept.
    public let store: TokenStore
    private let transport: any HTTPTransport
    private let userAgent: any UserAgent
    let manager: TokenManager

    /// The sign-in that a person is busy with.
    private let pendingRedirect = LockedValue<PendingRedirect?>(nil)

    /// An application that keeps its sessions in a store, and signs people in with `userAgent`.
    ///
    /// - Throws: ``SignInError`` if the known authorities are not all of one kind.
    public init(
        _ configuration: PublicClientConfiguration,
        store: TokenStore,
        transport: any HTTPTransport,
        userAgent: any UserAgent = SystemBrowser()
    ) throws(SignInError) {
        for authority in configuration.knownAuthorities { _ = try configuration.checked(authority) }
        self.configuration = configuration
        self.store = store
        self.transport = transport
        self.userAgent = userAgent
        var options = configuration.tokenOptions
        options.tenant = configuration.tenant
        manager = TokenManager(
            store: store,
            clientID: configuration.clientID,
            transport: transport,
            options: options
        )
    }

    /// Signs a person in at the issuer's pages and stores everything in one commit.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError`, which carries tokens that could not be stored.
    public func acquireToken(_ request: InteractiveRequest) async throws -> AuthenticationResult {
        try await acquireToken(request, in: nil)
    }

    /// The same in another user agent than the application's own.
    package func acquireToken(
        _ request: InteractiveRequest,
        in userAgent: (any UserAgent)?
    ) async throws -> AuthenticationResult {
        let authority = try configuration.checked(request.authority)
        let pendingRedirect = PendingRedirect(state: .random())
        try begin(pendingRedirect)
        defer { end(pendingRedirect) }
        let agent: any UserAgent = userAgent ?? self.userAgent
        let tokens = try await flow.signIn(request, at: authority, in: agent, pendingRedirect)
        return try await save(tokens, requiringAllScopes: request.requiresAllScopes)
    }

    /// Stores what a sign-in brought.
    func save(_ tokens: SignedInTokens, requiringAllScopes: Bool) async throws -> AuthenticationResult {
        let stored = try await OperationSpan.run(.save) { _ in try await store.save(tokens) }
        let result = stored.limited(to: configuration.tokenOptions.maximumSessionAge, now: store.options.now())
        guard !requiringAllScopes || result.declinedScope.isEmpty else {
            throw SignInError.declinedScopes(result.declinedScope)
        }
        return result
    }

    /// Returns a token without asking anyone to sign in: from the store, or with a refresh token.
    ///
    /// - Throws: `AcquisitionError`, `TokenStoreError`, ``SignInError/Code/unknownAuthority``.
    public func acquireTokenSilently(_ request: SilentRequest) async throws -> TokenResult {
        var request = request
        if let authority = request.authority { request.authority = try configuration.checked(authority) }
        return try await manager.acquireTokenSilently(request)
    }

    /// The accounts that are signed in to this client.
    ///
    /// - Throws: `TokenStoreError`.
    public func accounts() throws -> [Account] { try store.signedInAccounts(client: configuration.clientID) }

    /// The one account of this client that `policy` leaves, such as `.userFlow("B2C_1_SUSI")`; nil where it leaves
    /// none.
    ///
    /// - Throws: `TokenStoreError.Code.ambiguousAccount` where several people signed in by it.
    public func account(for policy: AccountPolicy) throws -> Account? {
        try store.account(matching: policy.and(.client(configuration.clientID)))
    }

    /// The accounts that are signed in to this client.
    ///
    /// - Throws: `TokenStoreError`.
    public func accounts() async throws -> [Account] {
        try await store.signedInAccounts(client: configuration.clientID)
    }

    /// The one account of this client that `policy` leaves; nil where it leaves none.
    ///
    /// - Throws: `TokenStoreError.Code.ambiguousAccount` where several people signed in by it.
    public func account(for policy: AccountPolicy) async throws -> Account? {
        try await store.account(matching: policy.and(.client(configuration.clientID)))
    }

    /// Removes everything that this client knows of an account from this machine; the issuer is not asked.
    ///
    /// - Throws: `TokenStoreError`.
    public func remove(_ account: Account) async throws {
        let client = configuration.clientID
        _ = try await store.performRemoval { try $0.removeAccount(account.id, client: client) }
    }

    /// Ends the account's session at the issuer where that offers it, then removes the account.
    ///
    /// - Throws: `TokenStoreError` where the store cannot be written, `CancellationError`.
    @discardableResult
    public func signOut(_ account: Account, _ place: SignOutScope = .everywhere) async throws -> SignOutReport {
        try await manager.signOut(account.id, place)
    }

    /// Signs the account out everywhere, then has the issuer end the session that it keeps in the person's browser
    /// ([RP-Initiated Logout](https://openid.net/specs/openid-connect-rpinitiated-1_0.html)), where that offers it.
    ///
    /// Otherwise the next sign-in in that browser may ask for no password. The redirect URI has to be registered as a
    /// post-logout redirect URI as well.
    ///
    /// - Throws: ``SignInError`` while a sign-in is under way, `TokenStoreError`, `CancellationError`.
    @discardableResult
    public func endSession(_ account: Account, timeLimit: Duration = .seconds(60)) async throws -> EndSessionReport {
        let pendingRedirect = PendingRedirect(state: .random())
        try begin(pendingRedirect)
        defer { end(pendingRedirect) }
        let clients = [configuration.clientID]
        let ending = try await store.performRead { try EndingSession(of: account, clients: clients, in: $0) }
        let report = try await signOut(account)
        var flow = EndSessionFlow(redirectURI: configuration.redirectURI, store: store, transport: transport)
        flow.limits = configuration.tokenOptions.limits
        flow.timeLimit = timeLimit
        guard let ending else { return EndSessionReport(signOut: report, browser: .init(outcome: .notShown)) }
        let agent: any UserAgent = userAgent
        return EndSessionReport(signOut: report, browser: await flow.run(ending, in: agent, pendingRedirect))
    }

    /// Takes the address that the system opened the app with.
    ///
    /// - Returns: whether it is the answer to the sign-in or logout under way; then that goes on with it.
    public func handle(redirect address: String) -> Bool {
        guard let query = configuration.redirectURI.query(of: address),
            let pendingRedirect = pendingRedirect.withLock(\.self)
        else { return false }
        return pendingRedirect.take(AuthorizationResponse(query.utf8))
    }

    /// Ends the sign-in under way, if there is one.
    @discardableResult
    public func cancelSignIn() -> Bool {
        guard let pendingRedirect = pendingRedirect.withLock(\.self) else { return false }
        return pendingRedirect.cancel()
    }

    /// Ends the sign-in whose page is at `address`, if it is under way still.
    package func cancelSignIn(atPage address: String) {
        let query = Substring(address.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst())
        guard let pendingRedirect = pendingRedirect.withLock(\.self),
            AuthorizationResponse(query.utf8)["state"] == pendingRedirect.state
        else { return }
        _ = pendingRedirect.cancel()
    }

    /// Calls a web API with tokens of an account.
    public func transport(to api: WebAPI, as account: Account) -> AuthorizedTransport {
        manager.authorized(api, account: account.id)
    }

    var flow: AuthorizationCodeFlow {
        var flow = AuthorizationCodeFlow(
            clientID: configuration.clientID,
            redirectURI: configuration.redirectURI,
            transport: transport
        )
        flow.limits = configuration.tokenOptions.limits
        flow.dpop = configuration.tokenOptions.dpop
        flow.clientCapabilities = configuration.tokenOptions.clientCapabilities
        flow.now = store.options.now
        flow.answerSpace = { [store] in try await store.perform { try $0.reserveAnswerSpace() } }
        flow.hasSession = { [store] in await store.mayHaveSession(besides: $0, for: $1) }
        return flow
    }

    private func begin(_ pendingRedirect: PendingRedirect) throws(SignInError) {
        let isFree = self.pendingRedirect.withLock { current in
            guard current == nil else { return false }
            current = pendingRedirect
            return true
        }
        guard isFree else { throw .alreadyRunning }
    }

    private func end(_ pendingRedirect: PendingRedirect) {
        self.pendingRedirect.withLock { current in
            if current === pendingRedirect { current = nil }
        }
    }
}

extension TokenStore {
    /// Stores the tokens of a sign-in in one commit.
    ///
    /// - Throws: `TokenStoreError.Code.notStored` with the response, if it could not be stored.
    public func save(_ tokens: SignedInTokens) throws -> AuthenticationResult {
        let saved = try save(tokens.response, for: tokens.request, in: tokens.space)
        if saved.isInStore {
            // A sign-in that is stored does not fail for what a refresh fetches again.
            do { try tokens.documents.replaceKept(in: self) } catch {}
        }
        return try result(of: saved, tokens)
    }

    /// Stores the tokens of a sign-in in one commit, even if the task is cancelled.
    ///
    /// An issuer outside Microsoft's clouds whose ID token has no name for the user is then asked for it, and the
    /// account is named in a second commit, if that can be had.
    ///
    /// - Throws: `TokenStoreError.Code.notStored` with the response, if it could not be stored.
    public func save(_ tokens: SignedInTokens) async throws -> AuthenticationResult {
        let saved = try await save(tokens.response, for: tokens.request, in: tokens.space)
        if saved.isInStore {
            do { try await perform { try tokens.documents.replaceKept(in: $0) } } catch {}
            if let claims = await tokens.furtherClaims() {
                do {
                    try await perform { try $0.nameAccount(of: tokens.response, for: tokens.request, by: claims) }
                } catch {}
            }
        }
        return try await performRead { try $0.result(of: saved, tokens) }
    }

    private func result(of saved: SavedTokens, _ tokens: SignedInTokens) throws -> AuthenticationResult {
        guard let account = try saved.described ?? saved.account.flatMap({ try account($0) }) else {
            guard saved.account == nil else { throw AcquisitionError.interactionRequired(.signedOut) }
            throw SignInError.noIDToken
        }
        return AuthenticationResult(saved, of: account, tokens)
    }
}

extension SavedTokens {
    /// Whether the store took them, so that it is worth writing more.
    fileprivate var isInStore: Bool {
        switch outcome {
        case .stored, .storedBesideNewerRefreshToken: true
        case .discarded, .pending: false
        }
    }
}
