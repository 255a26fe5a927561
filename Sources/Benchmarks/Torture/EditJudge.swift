import HTTPTransport
import OAuth
import TestSupport
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Asks an edited store for everything it has, and compares each answer with what was planted.
struct EditJudge {
    struct Verdict: Sendable {
        /// Whether a check, or the opening, found something wrong.
        var isFound = false

        /// What was handed out, sent or printed for another purpose than its own; no secret is in it.
        var misuses: [String] = []

        /// How many tokens were handed out.
        var answers = 0
    }

    private let planted: PlantedStore
    private let path: StorePath

    /// The sessions of which a refresh is asked for.
    private let refreshed: [PlantedStore.Session]

    /// Whether a sign-out was deleted, after which its tokens are handed out as before.
    private let isSignOutLost: Bool
    private let network = HostileNetwork()
    private var verdict = Verdict()

    init(
        _ planted: PlantedStore,
        _ path: StorePath,
        refreshing refreshed: [PlantedStore.Session],
        isSignOutLost: Bool = false
    ) {
        self.planted = planted
        self.path = path
        self.refreshed = refreshed
        self.isSignOutLost = isSignOutLost
    }

    func verdict() async throws -> Verdict {
        var judge = self
        try await judge.look()
        return judge.verdict
    }

    private mutating func look() async throws {
        let store: TokenStore
        do {
            store = try await TokenStore.open(at: path, options: PlantedStore.options(at: PlantedStore.now))
            verdict.isFound = try await !store.check().isEmpty
        } catch is TokenStoreError {
            verdict.isFound = true
            return
        }
        for session in planted.sessions {
            for scope in PlantedStore.scopes + ["api://a/read"] { try lookUp(session, scope, nil, store) }
            try readClaims(of: session, store)
            try select(session, store)
        }
        for session in planted.sessions where session.isOfTenant {
            try lookUp(session, PlantedStore.scopes[3], Authority(parsing: PlantedStore.domain), store)
        }
        try readAccounts(store)
        try readRecord(store)
        try export(store)
        for session in refreshed { try await refresh(session, nil, store) }
        for session in refreshed where session.isOfTenant {
            try await refresh(session, Authority(parsing: PlantedStore.domain), store)
        }
    }

    /// An answer that is an error gives nothing away.
    private func answer<Answer>(_ body: () throws -> Answer) throws -> Answer? {
        do {
            return try body()
        } catch is TokenStoreError {
            return nil
        }
    }

    private mutating func require(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { verdict.misuses.append(problem()) }
    }

    // MARK: - Tokens

    private mutating func lookUp(
        _ session: PlantedStore.Session,
        _ scope: String,
        _ authority: Authority?,
        _ store: TokenStore
    ) throws {
        var query = TokenQuery(account: session.account, clientID: session.client, scope: Scope(scope))
        query.authority = authority
        guard case .usable(let token, isAging: _)? = try answer({ try store.cachedToken(for: query) }) else { return }
        verdict.answers += 1
        require(isSignOutLost || !session.isSignedOut, "a token of an account that signed out")
        judge(token, for: session, scope, realm: authority == nil ? session.tenant : PlantedStore.otherTenant)
    }

    /// A token that was handed out: its own account's, client's and scope's, with the times that were planted.
    private mutating func judge(
        _ token: AccessToken,
        for session: PlantedStore.Session,
        _ scope: String,
        realm: String
    ) {
        guard let own = planted.accessTokens[token.secret.reveal()] else {
            require(false, "a token that was not planted as an access token")
            return
        }
        require(own.session.account == session.account, "an access token of another account")
        require(own.session.client == session.client, "an access token of another client")
        require(Scope(scope).isMet(by: own.scope), "an access token for another scope")
        require(own.realm == realm, "an access token of another tenant")
        require(own.expiresOn > PlantedStore.now, "an access token past its end")
        require(token.expiresAt.timeIntervalSince1970 == Double(own.expiresOn), "an access token with another end")
        require(token.clientID == session.client && token.tokenType == "Bearer", "an access token with other labels")
        require(token.scope == own.scope && token.tenantID == own.realm, "an access token labelled for another use")
    }

    private mutating func refresh(
        _ session: PlantedStore.Session,
        _ authority: Authority?,
        _ store: TokenStore
    ) async throws {
        network.forget()
        var options = TokenManagerOptions()
        options.usesFamilyTokens = true
        options.pause = { _ in }
        let manager = TokenManager(store: store, clientID: session.client, transport: network, options: options)
        var request = SilentRequest(account: session.account, scope: Scope(PlantedStore.scopes[1]))
        request.forcesRefresh = true
        request.authority = authority
        do {
            let result = try await manager.acquireTokenSilently(request)
            verdict.answers += 1
            require(isSignOutLost || !session.isSignedOut, "a refresh for an account that signed out")
            let text = result.accessToken.secret.reveal()
            let used = planted.refreshTokens[String(text.dropFirst("fresh-".count))]
            require(used?.account == session.account, "a refreshed token of another account")
        } catch let error where error is AcquisitionError || error is TokenStoreError || error is AuthorityError {
            // After any failure, what was sent until then counts.
        }
        let allowed = [session.authority, authority].compactMap(\.self).map(HostileNetwork.endpoint)
        for sent in network.sent { judge(sent, for: session, allowed) }
    }

    private mutating func judge(_ sent: HostileNetwork.Sent, for session: PlantedStore.Session, _ allowed: [String]) {
        require(!sent.text.contains("planted-access"), "an access token sent to an issuer")
        guard sent.text.contains("planted-refresh") else { return }
        guard let own = planted.refreshTokens[sent.form["refresh_token"] ?? ""] else {
            require(false, "a refresh token in another place than its own field")
            return
        }
        require(allowed.contains(sent.url), "a refresh token sent to \(sent.url)")
        require(own.account == session.account, "a refresh token of another account sent")
        require(own.clients.contains(sent.form["client_id"] ?? ""), "a refresh token sent by another client")
    }

    // MARK: - Accounts

    private mutating func readClaims(of session: PlantedStore.Session, _ store: TokenStore) throws {
        for token in try answer({ try store.idTokens(of: session.account, client: session.client) }) ?? [] {
            let claims = token.idToken.claims.payload
            require(claims["department"]?.text == session.department, "claims of another account")
            require(claims["aud"]?.text == session.client, "claims for another client")
        }
    }

    /// Selection finds the account that was meant, or none.
    private mutating func select(_ session: PlantedStore.Session, _ store: TokenStore) throws {
        guard session.client == PlantedStore.clients[0] else { return }
        var policies: [AccountPolicy] = [
            .username(session.username), .claim("department", equals: .string(session.department)),
            .tag("team", equals: session.team),
        ]
        // This opens the claims of every account.
        if refreshed.contains(where: { $0.account == session.account }) {
            policies.append(.claim("name", contains: session.name))
        }
        for policy in policies {
            guard let account = try answer({ try store.account(matching: policy) }) ?? nil else { continue }
            require(account.id == session.account, "another account was selected")
            judge(account)
        }
        if let account = try answer({ try store.account(session.account) }) ?? nil { judge(account) }
        let tags = try answer { try store.tags(of: session.account) } ?? [:]
        require(tags.isEmpty || tags == ["team": session.team], "a tag of another account")
    }

    private mutating func readAccounts(_ store: TokenStore) throws {
        for account in try answer({ try store.accounts() }) ?? [] { judge(account) }
        for account in try answer({ try store.accounts(matching: .defaultAccount) }) ?? [] { judge(account) }
        if let chosen = try answer({ try store.defaultAccount() }) ?? nil {
            require(chosen.id == planted.sessions[0].account, "another account as the default one")
            judge(chosen)
        }
    }

    private mutating func judge(_ account: Account) {
        guard let session = planted.sessions.first(where: { $0.account == account.id }) else {
            require(false, "an account that was not planted")
            return
        }
        require(account.name == session.name, "the name of another account")
        require(account.username == session.username, "the username of another account")
        require(account.environment == session.authority.environment, "an account at another host")
        require(account.userFlow == session.authority.userFlow, "an account of another user flow")
    }

    /// What was done, what holds requests back and who signed out: as it was planted, or left out.
    private mutating func readRecord(_ store: TokenStore) throws {
        for event in try answer({ try store.events(limit: .max) }) ?? [] where event.kind != .purge {
            guard let own = planted.events[event.id] else {
                require(false, "an entry in the record of use that was not planted")
                continue
            }
            require(event.account == nil || event.account == own.account, "an entry of another account")
            let isWhole = event.kind == own.kind && event.outcome == own.outcome && event.at == own.at
            require(isWhole && event.clientID == own.clientID, "an entry in the record of use that says something else")
        }
        for session in planted.sessions {
            let candidates = try answer { try PlantedStore.candidates(of: session, in: store) } ?? []
            for candidate in candidates {
                let (attempt, throttle) = (candidate.attempt, candidate.throttle)
                require(attempt == nil || attempt == planted.attempts[candidate.token.rowID], "another attempt")
                require(throttle.map(planted.throttles.contains) ?? true, "a wait that was not planted")
            }
        }
        for number in 0..<2 {
            let (gone, client) = (PlantedStore.gone(number), PlantedStore.clients[1])
            let state = try answer { try store.signInState(of: gone, client: client) }
            require(state != .signedOut, "a sign-out that was not planted")
        }
    }

    // MARK: - Export

    /// A program that reads the exported document uses each secret as its row says.
    private mutating func export(_ store: TokenStore) throws {
        guard let text = try answer({ try store.exportedText() }) else { return }
        let document = try JSONValue(parsing: text)
        for (_, row) in document["AccessToken"].object?.members ?? [] {
            guard let own = planted.accessTokens[row["secret"].text ?? ""] else { continue }
            judge(row, of: own.session, [own.session.client])
            require(row["expires_on"].text == "\(own.expiresOn)", "an access token exported with another end")
            require(Scope(row["target"].text ?? "") == own.scope, "an access token exported for another scope")
            require(row["realm"].text == own.realm, "an access token exported for another tenant")
        }
        for (_, row) in document["RefreshToken"].object?.members ?? [] {
            guard let own = planted.refreshTokens[row["secret"].text ?? ""] else { continue }
            judge(row, of: own, own.clients)
        }
    }

    private mutating func judge(_ row: JSONValue, of session: PlantedStore.Session, _ clients: [String]) {
        require(row["home_account_id"].text == session.account.homeAccountID, "a token exported for another account")
        require(clients.contains(row["client_id"].text ?? ""), "a token exported for another client")
        let host = row["environment"].text ?? ""
        require(session.authority.environment.hasPrefix(host) && !host.isEmpty, "a token exported for another host")
    }
}
