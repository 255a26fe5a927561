import Database
import OAuth
import TestSupport
import Testing
import TokenStorage

/// Edits of what is neither an account nor a token: records, waits, quarantine, data keys, derived values.
extension BindingTests {
    private static let hints: [Substring] = ["refresh_attempt", "throttle", "event"]

    @Test func `an altered wait, attempt or record of use is ignored, and a check finds it`() throws {
        let fixture = try twoAccounts()
        let token = try fixture.currentRefreshToken()
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s9")
        let authority = try Authority(parsing: "https://login.example.org/t1")
        func end(_ token: StoredRefreshToken) throws {
            _ = try fixture.store.beginRefresh(with: token)
            var consequence = RefreshConsequence(token: .possiblyConsumed)
            consequence.throttle = Throttle(
                beganAt: Fixture.now,
                expiresAt: Fixture.now + 60,
                failure: JSONValue.Object()
            )
            try fixture.store.endRefresh(with: token, of: query, authority: authority.url, consequence)
        }
        func candidate() throws -> RefreshCandidate? {
            try fixture.store.silentState(for: query) { _ in authority }?.candidates.first
        }
        try end(token)
        #expect(try candidate()?.attempt?.hasEnded == false)
        #expect(try candidate()?.throttle?.expiresAt == Fixture.now + 60)
        let events = try fixture.store.events()
        try edit(
            fixture,
            """
            UPDATE refresh_attempt SET outcome = 'ended';
            UPDATE throttle SET ends_at = ends_at + 600;
            UPDATE event SET outcome = 'x' WHERE id = 2;
            """
        )
        #expect(try candidate()?.attempt == nil)
        #expect(try candidate()?.throttle == nil)
        #expect(try fixture.store.events() == events.filter { $0.id != 2 })
        #expect(try fixture.store.check().map(\.location).map { $0.prefix { $0 != " " } } == Self.hints)
        try end(token)
        #expect(try candidate()?.throttle?.expiresAt == Fixture.now + 60)
        #expect(try fixture.store.check().count == 1)
    }

    @Test func `a refresh token is not ended by what was noted of another that had its row before`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s9")
        let authority = try Authority(parsing: "https://login.example.org/t1")
        func candidate() throws -> RefreshCandidate? {
            try fixture.store.silentState(for: query) { _ in authority }?.candidates.first
        }
        let token = try fixture.currentRefreshToken()
        let consequence = RefreshConsequence(token: .ended)
        try fixture.store.endRefresh(with: token, of: query, authority: authority.url, consequence)
        #expect(try candidate()?.attempt?.hasEnded == true)
        try edit(fixture, "CREATE TABLE kept AS SELECT * FROM refresh_attempt")
        try fixture.store.removeAccount(Fixture.account)
        try fixture.signIn(.signIn(["refresh_token": "r2"]))
        try edit(fixture, "INSERT INTO refresh_attempt SELECT * FROM kept")
        #expect(try candidate()?.token.secret == Secret("r2"))
        #expect(try candidate()?.attempt == nil)
    }

    @Test func `a repair makes no session of a refresh token that no longer says what it is`() throws {
        let token = JSONValue.refreshToken("rt1", ["user_assertion_hash": "h1"])
        let fixture = try TestStore.closed(
            .cache(
                accessTokens: [.accessToken("a", "s1", ["unknown": "x"])],
                refreshTokens: [token],
                idTokens: [.idToken()],
                accounts: [.account()]
            )
        )
        try edit(fixture, "UPDATE refresh_token SET extra = x'00'; UPDATE access_token SET extra = x'00'")
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try repaired.check() == [])
        #expect(try repaired.refreshTokens(of: Fixture.account, client: "cid").isEmpty)
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        #expect(LookupResult(try repaired.cachedToken(for: query)) == .hit("a"))
    }

    @Test(arguments: [
        "event SET account_id = 1 WHERE account_id IS NULL", "event SET account_mark = NULL",
        "event SET kind = 'purge'",
        "event SET fingerprint = NULL", "event SET mac = NULL", "store SET reader_floor = 0",
        "store SET writer_floor = 7",
    ])
    func `an altered record of use or header is found by a check, and repaired`(change: String) throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        do {
            let store = try fixture.another()
            let token = try #require(store.refreshTokens(of: Fixture.account, client: "cid").first)
            var consequence = RefreshConsequence(token: .possiblyConsumed)
            consequence.event = "x"
            let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
            try store.endRefresh(with: token, of: query, authority: "https://login.example.org", consequence)
            try edit(fixture, "UPDATE \(change)")
            #expect(try !store.check().isEmpty)
            #expect(try store.events().allSatisfy { $0.kind != .import || $0.account == nil })
        }
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(try fixture.another().check() == [])
    }

    @Test func `an altered record of a sign-out does not count, for any client`() throws {
        let fixture = try twoAccounts()
        try fixture.store.removeAccount(Fixture.account)
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
        try edit(fixture, "UPDATE sign_out SET client_fold = 'cid2'")
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid2") == .unknown)
        #expect(try fixture.store.check().count == 1)
        try edit(fixture, "UPDATE sign_out SET client_fold = 'cid'")
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
    }

    @Test func `an entry in quarantine without its account's hash is found by a check`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")).with(["Private": ["u1.t1-k": "v"]]))
        try edit(fixture, "UPDATE foreign_entry SET account_hash = NULL")
        #expect(try fixture.store.check().map(\.problem) == ["is not that of the entry's account"])
    }

    @Test func `what a store cannot take that says it was moved waits in a file`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try edit(fixture, "UPDATE data_key SET is_current = 2")
        let error = #expect(throws: TokenStoreError.self) { try fixture.signIn(.signIn()) }
        #expect(error?.code == .notStored)
        #expect(error?.cause == .moved)
        #expect(error?.problem.contains("a file beside it keeps them") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.code == .undoMove)
        #expect(try fixture.path.pendingAnswers().count == 1)
        try TokenStore.undoMove(at: fixture.location, options: fixture.options)
        try fixture.another().takeInAnswers()
        #expect(try fixture.path.pendingAnswers().isEmpty)
    }

    @Test(arguments: [0, -1])
    func `beside a data key without a current mark an answer waits in a file`(mark: Int) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try edit(fixture, "UPDATE data_key SET is_current = \(mark)")
        let saved = try fixture.signIn(.signIn())
        guard case .pending = saved.outcome else {
            Issue.record("stored under no key")
            return
        }
        #expect(throws: TokenStoreError.self) {
            try TokenStore.open(at: fixture.path, options: fixture.options).check()
        }
        try edit(fixture, "UPDATE data_key SET is_current = 1")
        try fixture.another().takeInAnswers()
        #expect(try fixture.path.pendingAnswers().isEmpty)
    }

    @Test func `a repair recomputes every derived value, and the check is clean`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")).with(["Private": ["k": "v"]]))
        try edit(
            fixture,
            """
            UPDATE refresh_token SET fingerprint = x'0011223344556677';
            UPDATE foreign_entry SET identity = x'00', account_hash = x'01';
            DELETE FROM claim_index;
            """
        )
        let damaged = try TokenStore.open(at: fixture.path, options: fixture.options).check()
        #expect(damaged.count == 4)
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(try TokenStore.open(at: fixture.path, options: fixture.options).check() == [])
    }
}
