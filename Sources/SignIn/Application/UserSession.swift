import HTTPTransport
public import OAuth
public import OpenIDConnect
public import TokenManagement
public import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The session of one person with an app.
///
/// A handle that holds no token: each question goes to the store, which other processes may have changed meanwhile.
///
/// ```swift
/// let session = try await application.signIn(scope: "read write")
/// let token = try await session.accessToken(for: "read")
/// let tasks = try await session.api(WebAPI(url: "https://api.example.com/tasks", scope: "read")).json()
/// try await session.signOut()
/// ```
public struct UserSession: Sendable, Identifiable {
    /// The account as it was when the session was asked for.
    public let account: Account
    private let application: PublicClientApplication

    /// The account's id.
    public var id: Account.ID { account.id }

    init(_ account: Account, of application: PublicClientApplication) {
        self.account = account
        self.application = application
    }

    /// What the issuer says of the person, in the newest ID token of this app; nil once the account is signed out.
    ///
    /// - Throws: `TokenStoreError`.
    public func claims() async throws -> Claims? {
        let (id, client) = (account.id, application.configuration.clientID)
        return try await application.store.performRead { try $0.idTokens(of: id, client: client).first?.idToken.claims }
    }

    /// An access token that is good to use for `scope`, refreshed if needed; never prompts.
    ///
    /// - Throws: `AcquisitionError`, of which `needsInteraction` says that only ``acquireToken(for:prompt:after:)``
    ///   helps; `TokenStoreError`.
    public func accessToken(for scope: Scope) async throws -> AccessToken {
        try await acquireTokenSilently(SilentRequest(account: account.id, scope: scope)).accessToken
    }

    /// An access token with all that is known of how it was had.
    ///
    /// - Throws: ``SignInError`` for an authority that the application does not know; `AcquisitionError`;
    ///   `TokenStoreError/Code/invalidArgument` for a request of another account.
    public func acquireTokenSilently(_ request: SilentRequest) async throws -> TokenResult {
        guard request.account == account.id else {
            throw TokenStoreError.invalidArgument(
                "the request is for another account than the session's",
                .correct("name the account of the session")
            )
        }
        return try await application.acquireTokenSilently(request)
    }

    /// Has the same person sign in again for `scope`; tokens of another person are refused.
    ///
    /// `error` is what ended a silent request or the call of a web API before: the issuer or the API may ask for claims
    /// in it, such as a second factor.
    ///
    /// - Throws: ``SignInError``, `TokenStoreError`.
    @discardableResult
    public func acquireToken(
        for scope: Scope,
        prompt: Prompt? = nil,
        after error: AcquisitionError? = nil
    ) async throws -> AuthenticationResult {
        var request = InteractiveRequest(scope: scope)
        request.account = account
        request.prompt = prompt
        request.claims = error?.neededClaims
        do {
            request.authority = try application.configuration.authority(for: account)
        } catch {
            throw SignInError.thrown(for: error)
        }
        return try await application.acquireToken(request)
    }

    /// Calls a web API with access tokens of the account.
    public func api(_ api: WebAPI) -> AuthorizedTransport { application.transport(to: api, as: account) }

    /// Refreshes the tokens for each of `scopes` ahead of their expiry, until the value that is returned goes away.
    public func keepFresh(
        _ scopes: [Scope],
        onFailure: @escaping @Sendable (Scope, any Error) -> Void = { _, _ in }
    ) -> TokenRefresher {
        application.manager.keepFresh(account.id, scopes: scopes, onFailure: onFailure)
    }

    /// What this process and others change of the account from now on.
    ///
    /// `StoreChange.many` is among it: something changed, and it may have been this account. Each call is a
    /// subscription; those of all sessions with one store share a thread.
    ///
    /// - Throws: `TokenStoreError`.
    public func changes() throws -> AsyncStream<StoreChange> { try application.store.changes(about: account.id) }

    /// What this process and others change of the account from now on.
    ///
    /// - Throws: `TokenStoreError`.
    public func changes() async throws -> AsyncStream<StoreChange> {
        try await application.store.changes(about: account.id)
    }

    /// Ends the session: at the issuer if it offers that, and on this machine even if that fails.
    ///
    /// Doing it twice is not an error.
    ///
    /// - Throws: `TokenStoreError` where the store cannot be written, `CancellationError`.
    @discardableResult
    public func signOut(_ place: SignOutScope = .everywhere) async throws -> SignOutReport {
        try await application.signOut(account, place)
    }

    /// Signs out everywhere, then has the issuer end its session in the person's browser.
    ///
    /// - Throws: ``SignInError`` while a sign-in is under way, `TokenStoreError`, `CancellationError`.
    @discardableResult
    public func endSession(timeLimit: Duration = .seconds(60)) async throws -> EndSessionReport {
        try await application.endSession(account, timeLimit: timeLimit)
    }
}

extension UserSession: Hashable {
    public static func == (left: UserSession, right: UserSession) -> Bool {
        left.id == right.id && left.application === right.application
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(ObjectIdentifier(application))
    }
}

extension PublicClientApplication {
    /// An application with the store at its usual place, and the network.
    ///
    /// The usual place is what the environment names, a file or a server, else the file of this user
    /// (`StoreLocation.standard(environment:)`).
    ///
    /// The redirect URI means any free port of this machine, as [RFC 8252
    /// §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3) has it; register `http://127.0.0.1` at the issuer.
    ///
    /// Opening the store reads and may write the file, on the caller's thread: make the application before the app is
    /// busy, or give ``init(_:store:transport:userAgent:)`` a store that `try await TokenStore.open(at:)` opened.
    ///
    /// - Throws: ``SignInError``, `AuthorityError`, `TokenStoreError`.
    public convenience init(
        clientID: String,
        issuer: String,
        redirectURI: RedirectURI = .anyPort,
        storeAt path: StorePath? = nil,
        dpop: DPoPPolicy = .off,
        userAgent: any UserAgent = SystemBrowser()
    ) throws {
        try self.init(
            clientID: clientID,
            authority: Authority(issuer: issuer),
            redirectURI: redirectURI,
            storeAt: path,
            dpop: dpop,
            userAgent: userAgent
        )
    }

    /// The same for an authority of Microsoft's, or any that was read before.
    ///
    /// - Throws: ``SignInError``, `TokenStoreError`.
    public convenience init(
        clientID: String,
        authority: Authority,
        redirectURI: RedirectURI = .anyPort,
        storeAt path: StorePath? = nil,
        dpop: DPoPPolicy = .off,
        userAgent: any UserAgent = SystemBrowser()
    ) throws {
        var configuration = try PublicClientConfiguration(
            clientID: clientID,
            redirectURI: redirectURI,
            authority: authority
        )
        configuration.tokenOptions.dpop = dpop
        let environment = ProcessInfo.processInfo.environment
        let location = try path.map { StoreLocation($0) } ?? .standard(environment: environment)
        let store = try TokenStore.open(at: location)
        try self.init(configuration, store: store, transport: AsyncHTTPTransport(), userAgent: userAgent)
    }

    /// Has a person sign in at the issuer's pages, where `loginHint` is filled in as the name, and stores everything in
    /// one commit.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError`, which carries tokens that could not be stored.
    public func signIn(
        scope: Scope = Scope([]),
        prompt: Prompt? = nil,
        loginHint: String? = nil
    ) async throws -> UserSession {
        var request = InteractiveRequest(scope: scope)
        request.prompt = prompt
        request.loginHint = loginHint
        return try await signIn(request)
    }

    /// The same with all that a request can say.
    ///
    /// - Throws: ``SignInError``; `TokenStoreError`, which carries tokens that could not be stored.
    public func signIn(_ request: InteractiveRequest) async throws -> UserSession {
        session(for: try await acquireToken(request).account)
    }

    /// The session of an account; whether it is signed in shows when a token is asked for.
    public func session(for account: Account) -> UserSession { UserSession(account, of: self) }

    /// The session of an account that an app remembers by its id; nil where it is not stored.
    ///
    /// - Throws: `TokenStoreError`.
    public func session(for id: Account.ID) async throws -> UserSession? {
        try await store.account(id).map { session(for: $0) }
    }

    /// The sessions of the accounts that are signed in to this client.
    ///
    /// - Throws: `TokenStoreError`.
    public func sessions() async throws -> [UserSession] {
        let client = configuration.clientID
        return try await store.performRead { try $0.signedInAccounts(client: client) }.map { session(for: $0) }
    }
}
