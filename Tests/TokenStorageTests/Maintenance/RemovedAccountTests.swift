import Database
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What a store keeps of an account that is gone: a keyed hash, and nothing that names it.
@Suite(.onBothEngines)
struct RemovedAccountTests {
    enum Removal: CaseIterable {
        case remove, wipe, purge

        func run(_ store: TokenStore, _ account: Account.ID) throws {
            switch self {
            case .remove: try store.removeAccount(account, client: "cid")
            case .wipe: try store.removeAccount(account)
            case .purge: _ = try store.purge(.homeAccountID(account.homeAccountID))
            }
        }
    }

    private static let common = "https://login.microsoftonline.com/common"
    private static let subject = Account.ID(issuer: "https://login.example.org", homeAccountID: "Zm9vYg")

    /// A store with two accounts of which every table knows something.
    private static func store() throws -> TestStore {
        let item: JSONValue = [
            "client_id": "cid", "sign_in_state": "signed_in",
            "athority_map": ["URLMap-": ["https://login.example.org/common": "https://login.example.org/t2"]],
        ]
        let items: JSONValue = ["Zm9vYg": item, "U1.T1": item]
        let place: KeyValuePairs<String, JSONValue> = ["home_account_id": "Zm9vYg", "environment": "login.example.org"]
        let claims: JSONValue = [
            "iss": "https://login.example.org", "sub": "Zm9vYg", "aud": "cid", "name": "Mara Planted",
        ]
        let document = JSONValue.cache(
            accessTokens: [
                .accessToken("a", "s1").with(place), .accessToken("q", "s1", ["expires_on": nil]).with(place),
            ],
            refreshTokens: [.refreshToken("r").with(place)],
            idTokens: [.idToken(claims).with(place)],
            accounts: [.account(["username": "mara@planted.example", "local_account_id": "Zm9vYg"]).with(place)]
        )
        let fixture = try TestStore(document)
        try fixture.signIn(.signIn(["client_info": .string(Fixture.clientInfo("U1", "T1"))]), at: common) {
            $0.newKey = BoundKey(thumbprint: "planted", secret: Secret("key"))
        }
        let metadata: JSONValue = ["cid": ["client_id": "cid", "account_metadata_map": items]]
        try fixture.take(["AccountMetadataMap": metadata, "Account": [:]])
        for account in [subject, Fixture.account] {
            try fixture.store.setTags(["team": "planted"], of: account)
            try fixture.store.setDefaultAccount(account)
            let token = try fixture.currentRefreshToken(of: account)
            _ = try fixture.store.beginRefresh(with: token)
            var consequence = RefreshConsequence(token: .possiblyConsumed)
            consequence.throttle = Throttle(beganAt: 0, expiresAt: Fixture.now + 60, failure: JSONValue.Object())
            consequence.event = "refused"
            let query = TokenQuery(account: account, clientID: "cid", scope: "s1")
            try fixture.store.endRefresh(with: token, of: query, authority: "a", consequence)
        }
        return fixture
    }

    /// Every row of every table, as text; blobs in hexadecimal.
    private static func rows(_ store: TokenStore) throws -> [String: [String]] {
        try store.read { session in
            let tables = try texts(tables, session.connection).map { table in
                (
                    table,
                    try texts("SELECT \(row(of: table, session.connection)) FROM \(table) AS r", session.connection)
                )
            }
            return Dictionary(uniqueKeysWithValues: tables)
        }
    }

    private static var tables: String {
        StoreEngine.current == .file
            ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
            : "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()"
    }

    private static func row(of table: String, _ connection: Connection) throws -> String {
        if connection.isServer { return "r::text" }
        return try texts("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('\(table)')", connection)
            .joined(separator: " || ' ' || ")
    }

    private static func texts(_ sql: String, _ connection: Connection) throws -> [String] {
        var texts: [String] = []
        try connection.prepare(sql).forEach([]) {
            texts.append($0.text(0))
            return true
        }
        return texts
    }

    private static func isNamed(_ row: String, by names: [String]) -> Bool {
        names.contains { name in
            let bytes = name.utf8.map { String($0, radix: 16, uppercase: true) }.joined()
            return row.lowercased().contains(name.lowercased()) || row.uppercased().contains(bytes)
        }
    }

    @Test(arguments: Removal.allCases)
    func `a removed account leaves no row in any table`(removal: Removal) throws {
        let fixture = try Self.store()
        let names = ["Zm9vYg", "planted", "U1.T1", "ada@example.net"]
        let before = try Self.rows(fixture.store)
        let tables = [
            "account", "account_state", "authority_map", "event", "throttle", "refresh_attempt", "id_token",
            "dpop_key", "account_tag", "default_account",
        ]
        for table in tables { #expect(before[table]?.isEmpty == false, "\(table)") }
        for account in [Self.subject, Fixture.account] { try removal.run(fixture.store, account) }
        for (table, rows) in try Self.rows(fixture.store) {
            #expect(!rows.contains { Self.isNamed($0, by: names) }, "\(table)")
            let mayStay = ["store", "data_key", "event", "sign_out", "mark_key", "app_metadata"].contains(table)
            #expect(mayStay || rows.isEmpty, "\(table)")
        }
        #expect(try fixture.store.check() == [])
    }

    @Test func `a removed account's sign-out and events are found by its id after a rekey`() throws {
        let fixture = try Self.store()
        try fixture.store.removeAccount(Self.subject, client: "CID")
        #expect(try fixture.store.account(Self.subject) == nil)
        for _ in 0..<2 {
            #expect(try fixture.store.signInState(of: Self.subject, client: "cid") == .signedOut)
            #expect(try fixture.store.signInState(of: Self.subject, client: "other") == .unknown)
            #expect(try fixture.store.events(of: Self.subject).map(\.kind) == [.signOut, .refused])
            #expect(try fixture.store.events(of: Self.subject).map(\.account) == [nil, nil])
            _ = try fixture.store.rekey()
        }
        let other = Account.ID(issuer: Self.subject.issuer, homeAccountID: "zm9vyg")
        #expect(try fixture.store.signInState(of: other, client: "cid") == .unknown)
    }

    @Test func `a new sign-in ends the sign-out of its client and leaves the others`() throws {
        let fixture = try TestStore()
        for client in ["cid", "cid2"] { try fixture.signIn(.signIn(), client: client) }
        try fixture.store.removeAccount(Fixture.account)
        try fixture.signIn(.signIn())
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedIn)
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid2") == .signedOut)
        #expect(try Self.rows(fixture.store)["sign_out"] == [])
    }
}
