import Database
public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TokenStore {
    /// Stores a whole token response in one commit: account, claims, refresh token and access token, or nothing.
    ///
    /// When this returns, the tokens are on disk; use the access token only then. A response that the store cannot
    /// take is put, sealed, into a file beside it: ``SavedTokens/Outcome/pending(reason:)``.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` with the response, if neither was possible, or only a file beside a
    ///   store that was moved meanwhile has it.
    @discardableResult
    public func save(_ response: TokenResponse, for request: TokenRequest) throws -> SavedTokens {
        try save(response, for: request, in: nil)
    }

    /// Stores the answer to a refresh with `used` in one commit.
    ///
    /// A sign-out that came first wins: the answer is discarded. So does a refresh token that another process stored
    /// first: the answer's is dropped, its access token stored.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` with the response, if it could not be stored at all,
    ///   ``TokenStoreError/Code/otherAccount`` if it names another account.
    @discardableResult
    public func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken
    ) throws -> SavedTokens {
        try save(response, for: request, refreshing: used, in: nil)
    }

    /// Stores a response in room that was taken before its request was sent.
    @discardableResult
    package func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken? = nil,
        in space: AnswerSpace?
    ) throws -> SavedTokens {
        let answer = PendingAnswer(response, for: request, refreshing: used, at: options.seconds)
        return try keep(answer, in: space)
    }
}

extension TokenStoreError {
    /// A refresh ended after a new sign-in, whose tokens are not those that are asked for.
    package static func overtaken(at location: StoreLocation) -> TokenStoreError {
        .busy("the account signed in anew while its tokens were refreshed", .retry).at(location)
    }
}

/// What became of a token response.
public struct SavedTokens: Sendable {
    /// The account it was about; nil for a token of the client itself.
    public let account: Account.ID?

    /// The new access token; nil if the response had none, or was discarded.
    public let accessToken: AccessToken?

    /// The scope of the new access token.
    public let grantedScope: Scope

    /// What was asked for and not granted.
    public let declinedScope: Scope

    /// What was done with it.
    public let outcome: Outcome

    /// The account as the answer describes it, where that is not in the store yet.
    package var described: Account?

    /// What was done with a token response.
    public enum Outcome: Hashable, Sendable {
        case stored
        /// Another process had rotated the refresh token meanwhile: its newer one was kept, the access token stored.
        case storedBesideNewerRefreshToken
        /// The account was signed out while the response was under way: nothing was stored.
        case discarded
        /// The store cannot be written for this reason; the answer is safe in a sealed file beside it, or where it was
        /// before it was moved, and the next process that opens the store takes in what is beside it.
        case pending(reason: String)
    }
}

/// A store that tells a token which is good to use without looking for the reason where there is none.
package protocol UsableTokenReading: StoreReading {
    /// What ``StoreReading/cachedToken(for:)`` returns where a token is good to use.
    func usableToken(for query: TokenQuery) throws -> CachedToken?
}

extension StoreInspection: UsableTokenReading {
    package func usableToken(for query: TokenQuery) throws -> CachedToken? {
        try query.requireScope()
        return try storedUsableToken(for: query)
    }
}

extension TokenStore: UsableTokenReading {
    /// What the store has for `query`; a token that was opened before is kept until something is committed that
    /// concerns its account.
    public func cachedToken(for query: TokenQuery) throws -> CachedToken {
        // The store always answers; what it has besides a token that is good to use is not kept.
        try remembering(query) { try storedToken(for: query) } ?? storedToken(for: query)
    }

    package func usableToken(for query: TokenQuery) throws -> CachedToken? {
        try remembering(query) { try storedUsableToken(for: query) }
    }

    /// The token for a query that is in memory, or what `lookUp` finds.
    func remembering(_ query: TokenQuery, _ lookUp: () throws -> CachedToken?) throws -> CachedToken? {
        try query.requireScope()
        if let token = tokenInMemory(for: query) { return .usable(token, isAging: false) }
        guard options.keepsTokensInMemory, let version = try connections.memoryVersion() else { return try lookUp() }
        return try cache.token(for: query, at: options.seconds, version: version, lookUp)
    }

    /// The token in memory that ``cachedToken(for:)`` would return; nil where that asks the store, and so may wait.
    package func tokenInMemory(for query: TokenQuery) -> AccessToken? { cache.token(for: query, at: options.seconds) }
}

extension TokenQuery {
    func requireScope() throws(TokenStoreError) {
        // Microsoft's access tokens are each for one API, which OpenID's scopes do not name.
        guard !scope.matchesNothing || account.hasIssuer && !scope.isEmpty else {
            throw .invalidArgument("no scope of an API was asked for", .correct("name at least one"))
        }
    }
}

extension StoreReading {
    /// The scope that the account has signed in to `client` for, as far as its tokens tell.
    package func sessionScope(of account: Account.ID, client: String) throws -> Scope? {
        let granted = try refreshTokens(of: account, client: client).lazy.compactMap(\.scope)
        if let scope = granted.first(where: { !$0.isEmpty }) { return scope }
        let query = TokenQuery(account: account, clientID: client, scope: Scope([]))
        return try newestAccessToken(for: query)?.token.scope
    }

    /// A token of the account and client for any scope: one for no API in particular first, then the newest.
    package func newestAccessToken(for query: TokenQuery) throws -> (token: AccessToken, isUsable: Bool)? {
        try read { session in try session.connection.read { try session.newestAccessToken(query) } }
    }

    /// What the store has for `query`, opened anew.
    package func storedToken(for query: TokenQuery) throws -> CachedToken {
        try look(for: query) { try $0.cachedToken(query) }
    }

    /// What ``storedToken(for:)`` returns where a token is good to use.
    package func storedUsableToken(for query: TokenQuery) throws -> CachedToken? {
        try look(for: query) { try $0.usableToken(query) }
    }

    /// Runs `body`, in one moment with a look at the account where it has to be one of a user flow.
    private func look<Result: Sendable>(
        for query: TokenQuery,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        try read { session in
            guard let userFlow = query.authority?.userFlow else { return try body(session) }
            return try session.connection.read {
                try session.requireUserFlow(userFlow, of: query.account)
                return try body(session)
            }
        }
    }

    /// The clients that have tokens of an account.
    package func clientIDs(of account: Account.ID) throws -> [String] {
        try read { session in
            try session.connection.read { try session.accountRow(account).map { try session.clientIDs($0) } ?? [] }
        }
    }

    /// The refresh tokens of an account that `client` may use, its own before its family's, newest first.
    public func refreshTokens(
        of account: Account.ID,
        client: String,
        family: String? = nil
    ) throws -> [StoredRefreshToken] {
        try read { session in try session.refreshTokens(of: account, client: client, family: family) }
    }
}

extension TokenStore {
    /// Removes exactly `token`, as the issuer has refused it.
    ///
    /// - Returns: false if another one is in its place by now, which stays.
    @discardableResult
    public func removeRefreshToken(_ token: StoredRefreshToken) throws -> Bool {
        try write { session in
            guard try session.deleteRefreshToken(token) else { return false }
            try session.record(
                .refused,
                outcome: "removed",
                account: token.account,
                client: token.clientID,
                refreshToken: token.secret
            )
            return true
        }
    }
}

extension StoreConnection {
    func requireUserFlow(_ userFlow: String, of id: Account.ID) throws {
        guard let row = try accountRow(id), let account = try account(row) else { return }
        try account.requireUserFlow(userFlow)
    }
}

extension Account {
    func requireUserFlow(_ asked: String) throws(TokenStoreError) {
        guard let userFlow, userFlow != asked else { return }
        throw .userFlowMismatch(requested: asked, account: userFlow)
    }
}

/// A refresh token of the store with what it was issued for ([RFC 6749
/// §1.5](https://www.rfc-editor.org/rfc/rfc6749#section-1.5)).
public struct StoredRefreshToken: Equatable, Sendable {
    /// The token itself.
    public let secret: Secret

    /// The client that obtained it, even for a family token.
    public let clientID: String

    /// The family of clients that may use it; `"1"` is the only one in use.
    public let familyID: String?

    /// Whose token it is.
    public let account: Account.ID

    /// When it was stored; the newest of several is used first.
    public let modifiedAt: Date?

    /// The scope it was issued for; nil if it is not known.
    public let scope: Scope?

    /// What was asked for besides when the person signed in, and not granted.
    package var declinedScope = Scope([])

    /// The API that the sign-in was for, where it named one ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)).
    package var resource: String?

    /// The nonces of the ID tokens of the sign-in, where a later one brought an ID token alone.
    var signInNonces: [String] = []

    /// Its row, so that only this very token is replaced or removed.
    package let rowID: Int64

    /// How often the token in this row was replaced.
    let generation: Int64
}

/// An ID token of the store with what it was issued for.
public struct StoredIDToken: Sendable {
    /// The token with its claims.
    public let idToken: IDToken

    /// The client that it was issued to.
    public let clientID: String

    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// When it was stored.
    public let updatedAt: Date
}
