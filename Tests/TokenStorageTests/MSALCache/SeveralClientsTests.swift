import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Caches of several clients, which have one account, and names of different times for it.
@Suite(.onBothEngines)
struct SeveralClientsTests {
    /// What a client has since some time; a library may write no entry of the account.
    private func document(
        _ client: String,
        _ name: String,
        secondsAgo: Int64,
        hasAccount: Bool = true
    ) -> JSONValue {
        let row: KeyValuePairs<String, JSONValue> = ["client_id": .string(client)]
        let username = JSONValue.string(name + "@example.net")
        let claims = Fixture.claims([
            "iat": .number("\(Fixture.now - secondsAgo)"), "aud": .string(client), "preferred_username": username,
            "name": .string(name),
        ])
        return .cache(
            refreshTokens: [.refreshToken("r-\(client)-\(name)", row)],
            idTokens: [.idToken(claims, row)],
            accounts: hasAccount ? [.account(["username": username, "name": .string(name)])] : []
        )
    }

    private func expectNames(
        _ name: String,
        in fixture: TestStore,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let username = name + "@example.net"
        #expect(try fixture.store.accounts().map(\.username) == [username], sourceLocation: sourceLocation)
        #expect(try fixture.store.accounts().map(\.name) == [name], sourceLocation: sourceLocation)
        let rows = try fixture.rows("Account")
        #expect(rows.map { $0["username"] } == [.string(username)], sourceLocation: sourceLocation)
        #expect(rows.map { $0["name"] } == [.string(name)], sourceLocation: sourceLocation)
    }

    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func `the newest of several clients' documents names an account, in any order`(order: [Int]) throws {
        let documents = [
            document("cid", "old", secondsAgo: 900), document("cid2", "new", secondsAgo: 90),
            document("cid", "mid", secondsAgo: 300),
        ]
        let fixture = try TestStore()
        for index in order { try fixture.take(documents[index]) }
        try expectNames("new", in: fixture)
        for document in documents + documents { #expect(try fixture.take(document).changes == 0) }
        // Each client has its own session.
        #expect(Set(try fixture.rows("RefreshToken").map { $0["secret"] }) == ["r-cid-mid", "r-cid2-new"])
    }

    @Test(arguments: [false, true])
    func `a document of one client does not take back the names in one of two`(isOlderFirst: Bool) throws {
        let (older, other) = (document("cid", "old", secondsAgo: 900), document("cid2", "new", secondsAgo: 90))
        func rows(_ bucket: String) -> [JSONValue] {
            [older, other].flatMap { $0[bucket].object?.members.map(\.value) ?? [] }
        }
        let newer = JSONValue.cache(
            refreshTokens: rows("RefreshToken"),
            idTokens: rows("IdToken"),
            accounts: Array(rows("Account").suffix(1))
        )
        let fixture = try TestStore()
        for document in isOlderFirst ? [older, newer] : [newer, older] { try fixture.take(document) }
        try expectNames("new", in: fixture)
        for document in [older, newer, older, newer] { #expect(try fixture.take(document).changes == 0) }
    }

    @Test func `an older document of another client does not rename who has signed in`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let older = document("cid2", "old", secondsAgo: 900)
        #expect(try fixture.take(older).profiles == 0)
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
        #expect(try fixture.rows("Account").map { $0["username"] } == ["ada@example.net"])
        #expect(try fixture.take(older).changes == 0)
    }

    @Test func `an older document of another client fills gaps`() throws {
        let fixture = try TestStore(document("cid", "new", secondsAgo: 90))
        let account = JSONValue.account(["username": "old@example.net", "given_name": "Old"])
        let older = document("cid2", "old", secondsAgo: 900).with(["Account": ["k": account]])
        #expect(try fixture.take(older).profiles == 1)
        try expectNames("new", in: fixture)
        #expect(try fixture.rows("Account").map { $0["given_name"] } == ["Old"])
        #expect(try fixture.take(older).changes == 0)
    }

    @Test(arguments: [(80, "new"), (100, "old")] as [(Int64, String)])
    func `an ID token of another client renames an account only if it is newer`(age: Int64, name: String) throws {
        let fixture = try TestStore(document("cid", "old", secondsAgo: 90))
        let other = document("cid2", "new", secondsAgo: age, hasAccount: false)
        try fixture.take(other)
        #expect(try fixture.store.accounts().map(\.username) == [name + "@example.net"])
        #expect(try fixture.store.accounts().map(\.name) == [name])
        #expect(try fixture.take(other).changes == 0)
    }
}
