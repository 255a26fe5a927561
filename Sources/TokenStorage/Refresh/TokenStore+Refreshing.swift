import Database
package import OAuth

extension StoreReading {
    /// When the person signed in to `client`, and when the account was last used, in Unix seconds; nil if not known.
    package func sessionTimes(of account: Account.ID, client: String) throws -> (signIn: Int64, lastUse: Int64)? {
        try read { session in
            try session.connection.read { try session.sessionTimes(of: account, client: client) }
        }
    }

    /// The grant of an account's last sign-in in its home tenant; nil if not known.
    package func signInGrant(of account: Account.ID) throws -> Grant? {
        try read { session in try session.connection.read { try session.signInGrant(of: account) } }
    }
}

/// A refresh token that was chosen is not the store's any more: it is not sent, and another choice is made.
package struct ReplacedToken: Error {}

extension TokenStore {
    /// Commits that `token` is about to be sent, if the store would take the answer.
    ///
    /// - Returns: an earlier use of this very token whose answer was not stored; nil where there was none.
    /// - Throws: ``ReplacedToken`` where the store has another token by now, or none; ``TokenStoreError``.
    package func beginRefresh(with token: StoredRefreshToken) throws -> RefreshAttempt? {
        try beginUse(of: token).earlier
    }

    /// The same, with the use that was noted.
    package func beginUse(of token: StoredRefreshToken) throws -> NotedUse {
        var known: NotedUse?
        return try withWriter { session in
            try session.write(askingAhead: { try session.askAheadForAnswer() }) {
                guard let account = try session.accountRow(token.account), try session.isCurrent(token) else {
                    throw ReplacedToken()
                }
                try session.rehearseAnswer(about: token.account)
                var earlier = try session.attempt(token)
                // After a commit whose answer was lost it is the one of this call.
                if session.mayHaveHappened, let known, known.own == earlier { earlier = known.earlier }
                let own = try session.writeAttempt(token, account: account, outcome: nil)
                let use = NotedUse(own: own, earlier: earlier)
                known = use
                return use
            }
        }
    }

    /// Commits what a failed request with `token` leaves behind.
    package func endRefresh(
        with token: StoredRefreshToken,
        of query: TokenQuery,
        authority: String,
        _ consequence: RefreshConsequence
    ) throws {
        try write { session in
            try session.settle(token, of: query, by: consequence)
            if consequence.leavesFamily { try session.leaveFamily(query) }
            if let throttle = consequence.throttle, let row = try session.accountRow(query.account) {
                let key = try session.throttleKey(query, authority: authority, token: token)
                try session.writeThrottle(throttle, key: key, account: row, client: query.clientID)
            }
            guard let outcome = consequence.event else { return }
            try session.record(
                .refused,
                outcome: outcome,
                account: query.account,
                client: query.clientID,
                refreshToken: token.secret
            )
        }
    }

    /// Keeps the refresh token of an answer whose other parts are not to be trusted, unless they name another user.
    ///
    /// - Throws: ``TokenStoreError/Code/otherAccount`` if they do.
    package func keepRefreshToken(
        of response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken,
        in space: AnswerSpace? = nil
    ) async throws {
        // Where the store cannot be read, the old token is spent all the same.
        let isOthers = try? await performRead { try $0.isOthers(response, request, account: used.account) }
        if isOthers ?? false { throw TokenStoreError.otherAccount(response) }
        var kept = TokenResponse()
        kept.refreshToken = response.refreshToken
        kept.scope = response.scope
        kept.familyID = response.familyID
        try await save(kept, for: request, refreshing: used, in: space)
    }

    /// Whether an answer names another user than the one it was asked for; one that cannot be read names none.
    private func isOthers(_ response: TokenResponse, _ request: TokenRequest, account: Account.ID) throws -> Bool {
        let identity: ResponseIdentity
        do {
            identity = try ResponseIdentity(response, request: request)
        } catch is MismatchedAccount {
            return true
        } catch {
            return false
        }
        return try read { session in
            guard let row = try session.accountRow(account) else { return false }
            return try !session.isAbout(account, row: row, identity)
        }
    }
}

extension StoreConnection {
    /// Does to a refresh token, and to the note of its use, what came of sending it.
    fileprivate func settle(
        _ token: StoredRefreshToken,
        of query: TokenQuery,
        by consequence: RefreshConsequence
    ) throws {
        let account = try accountRow(token.account)
        switch consequence.token {
        case .possiblyConsumed:
            if let account, let earlier = consequence.earlierUse {
                try note(earlier, insteadOf: consequence.use, of: token, account: account)
            }
        case .unspent:
            // Who was held up may have been overtaken: what another has noted since stays.
            let noted = try consequence.use == nil ? nil : attempt(token)
            if noted == consequence.use { try deleteAttempt(token) }
        case .ended:
            let outcome = consequence.keepsPlace ? RefreshAttempt.awaited : RefreshAttempt.ended
            if let account, try isCurrent(token) { try writeAttempt(token, account: account, outcome: outcome) }
            try noteEnd(of: query)
        case .removed:
            if try deleteRefreshToken(token) { try deleteAttempt(token) }
            try noteEnd(of: query)
        }
    }

    /// Notes that the client is of no family at the host of the account.
    fileprivate func leaveFamily(_ query: TokenQuery) throws {
        guard let row = try accountRow(query.account) else { return }
        let environment = try account(row)?.environment ?? ""
        _ = try saveAppMetadata(
            client: query.clientID,
            environment: environment,
            family: nil,
            extra: JSONValue.Object()
        )
    }

    /// Forgets that the account is signed in, where the issuer has refused every refresh token that it could use.
    ///
    /// It is not signed out: its access tokens are good until they end.
    fileprivate func noteEnd(of query: TokenQuery) throws {
        guard let row = try accountRow(query.account),
            try signInState(of: query.account, client: query.clientID) == .signedIn,
            try usableRefreshTokens(query).allSatisfy({ try attempt($0)?.hasEnded == true })
        else { return }
        try setSignInState(.unknown, of: row, client: query.clientID)
    }
}

/// The last use of a refresh token, as far as it is known.
package struct RefreshAttempt: Hashable, Sendable {
    /// Unix seconds.
    package let startedAt: Int64
    package let program: String
    package let processID: Int64

    /// Whether the issuer has said that the token has ended; otherwise no answer was seen, and it may have been spent.
    package let hasEnded: Bool

    /// The outcome of a token that has ended.
    static let ended = "ended"

    /// The outcome of one that has ended, whose successor may be on its way to the store.
    static let awaited = "awaited"

    /// Whether it is of this process, or of one of another machine with the same number.
    package var isOwn: Bool { processID == StoreConnection.processID }

    package init(startedAt: Int64, program: String, processID: Int64, hasEnded: Bool = false) {
        self.startedAt = startedAt
        self.program = program
        self.processID = processID
        self.hasEnded = hasEnded
    }
}

/// A use of a refresh token that was noted before the token is sent.
package struct NotedUse: Sendable {
    /// This use.
    package let own: RefreshAttempt

    /// An earlier use of this very token whose answer was not stored; nil where there was none.
    package let earlier: RefreshAttempt?
}

/// What a failed refresh leaves behind in the store.
package struct RefreshConsequence: Sendable {
    /// What became of the refresh token.
    package enum Effect: Sendable {
        /// No answer was seen, or none that is this account's.
        case possiblyConsumed
        /// The issuer answered, or never saw the request.
        case unspent
        /// The issuer says that it is not to be sent again.
        case ended
        /// The issuer says that it cannot be used any more.
        case removed
    }

    package var token: Effect
    package var throttle: Throttle?

    /// The use of the token that failed; nil: whichever was noted last.
    package var use: RefreshAttempt?

    /// The use before it that may have spent the token, where it has not itself.
    package var earlierUse: RefreshAttempt?

    /// Whether the answer to an earlier use may be on its way to the store, to take the place of a token that has ended.
    package var keepsPlace = false

    /// Whether the client turned out not to be of the token's family.
    package var leavesFamily = false

    /// What the record of use says, if anything.
    package var event: String?

    package init(token: Effect) { self.token = token }
}
