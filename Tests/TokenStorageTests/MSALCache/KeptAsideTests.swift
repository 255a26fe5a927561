import Database
import OAuth
import SQL
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What an import keeps beside the tables goes with the account it is of, and says what is true now.
@Suite(.onBothEngines)
struct KeptAsideTests {
    @Test func `a document that signs an account out names it, and once`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let record: JSONValue = [
            "client_id": "cid", "account_metadata_map": ["u1.t1": ["client_id": "cid", "sign_in_state": "signed_out"]],
        ]
        let document: JSONValue = ["AccountMetadataMap": ["cid": record], "AccessToken": [:]]
        let report = try fixture.take(document)
        #expect(report.accounts == 1)
        #expect(report.accountNames == ["ada@example.net"])
        #expect(try fixture.take(document).accounts == 0)
    }

    private static func metadata(_ state: String, home: String = Fixture.home) -> JSONValue {
        let item: JSONValue = [
            "client_id": "cid", "home_account_id": .string(home), "sign_in_state": .string(state),
            "athority_map": [
                "URLMap-": ["https://login.microsoftonline.com/common": "https://login.microsoftonline.com/t2"]
            ],
        ]
        let record: JSONValue = [
            "client_id": "cid", "principal_home_account_id": .string(home),
            "account_metadata_map": .object(JSONValue.Object([(home, item), ("u9.t1", item)])),
        ]
        return ["AccountMetadataMap": ["cid": record]]
    }

    private static let document = JSONValue.standardCache(
        .accessToken("a", "s1"),
        .accessToken("mapped", "s2", ["realm": "t2"])
    )

    private static func signedOut() -> JSONValue {
        document.with(["AccountMetadataMap": metadata("signed_out")["AccountMetadataMap"]])
    }

    private func items(_ fixture: TestStore) throws -> JSONValue {
        try fixture.export()["AccountMetadataMap"]["cid"]["account_metadata_map"]
    }

    enum Removal: CaseIterable {
        case remove, wipe, purge

        func run(_ store: TokenStore) throws {
            switch self {
            case .remove: try store.removeAccount(Fixture.account, client: "cid")
            case .wipe: try store.removeAccount(Fixture.account)
            case .purge: _ = try store.purge(.homeAccountID(Fixture.home))
            }
        }
    }

    @Test(
        arguments: [
            "https://\(Fixture.host)", "https://\(Fixture.host)/common/", "\(Fixture.host):443", "\(Fixture.host).",
            "\(Fixture.host)\\", "",
        ]
    )
    func `a row whose host could not be read is removed with the account that it names`(host: String) throws {
        let row = JSONValue.accessToken("q", "s1", ["environment": .string(host), "expires_on": nil])
        let fixture = try TestStore(
            .cache(accessTokens: [row], refreshTokens: [.refreshToken("r1")], accounts: [.account()])
        )
        #expect(try fixture.store.exportedText().contains("\"q\""))
        _ = try fixture.store.purge(.homeAccountID(Fixture.home))
        #expect(try !fixture.store.exportedText().contains("\"q\""))
    }

    @Test func `a row without a port is another account's where one is at the host`() throws {
        func row(_ host: String) -> JSONValue { .account(["environment": .string(host), "home_account_id": "s1"]) }
        let odd = JSONValue.accessToken(
            "q",
            "s1",
            ["environment": "id.example", "home_account_id": "s1", "expires_on": nil]
        )
        let hosts = ["id.example", "id.example:8443"]
        let fixture = try TestStore(.cache(accessTokens: [odd], accounts: hosts.map(row)))
        for host in hosts.reversed() {
            #expect(try fixture.store.exportedText().contains("\"q\""))
            let account = try #require(try fixture.store.accounts().first { $0.environment == host })
            try fixture.store.removeAccount(account.id)
        }
        #expect(try !fixture.store.exportedText().contains("\"q\""))
    }

    @Test func `names that differ only in how a letter is spelled are kept apart`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let token = JSONValue.refreshToken("r1", [composed: 1, decomposed: 2])
        let document = JSONValue.cache(refreshTokens: [token], accounts: [.account()])
            .with(["X\(composed)": ["k": 1], "X\(decomposed)": ["k": 2]])
        let fixture = try TestStore(document)
        let export = try fixture.export()
        let found = export["RefreshToken"].object?.members.first?.value.object
        #expect(found?[composed] == 1)
        #expect(found?[decomposed] == 2)
        #expect(export["X\(composed)"]["k"] == 1)
        #expect(export["X\(decomposed)"]["k"] == 2)
        // A text that is spelled in another way is another text.
        for text in [composed, decomposed] {
            let again = JSONValue.cache(accounts: [.account()]).with(["X\(composed)": ["k": .string(text)]])
            #expect(try fixture.take(again).changes == 1)
        }
        #expect(try fixture.export()["X\(composed)"]["k"] == .string(decomposed))
    }

    @Test(arguments: Removal.allCases)
    func `rows in quarantine are removed with their account`(removal: Removal) throws {
        let quarantined: [JSONValue] = [
            .accessToken("q1", "s1", ["expires_on": nil]), .accessToken("q2", "s1", ["expires_on": "soon"]),
            .accessToken("other", "s1", ["expires_on": nil, "home_account_id": "u2.t1"]),
            .accessToken("host", "s1", ["expires_on": nil, "environment": "login.example.org"]),
        ]
        let tokens = JSONValue.cache(accessTokens: quarantined)["AccessToken"]
            .with(["U1.T1-\(Fixture.host)-accesstoken-cid-t1-s3": ["secret": "q3"], "u1.t12-x": ["secret": "kept"]])
        let fixture = try TestStore(.cache(refreshTokens: [.refreshToken("r1")], accounts: [.account()]))
        try fixture.take(["AccessToken": tokens, "Notes": ["n": ["home_account_id": "U1.T1", "client_id": "CID"]]])
        #expect(try fixture.rows("AccessToken").count == 6)
        try removal.run(fixture.store)
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["other", "host", "kept"])
        #expect(try fixture.export()["Notes"] == .null)
    }

    /// Entries of two people in quarantine and unknown ones, and a sign-in of the first.
    private static let crowd = JSONValue.cache(refreshTokens: [.refreshToken("r1")], accounts: [.account()]).with([
        "Notes": [
            "a": ["home_account_id": "U1.T1", "secret": "own"], "u1.t1-x": ["secret": "own key"],
            "b": ["home_account_id": "u2.t1", "secret": "other"], "u2.t1-x": ["secret": "other key"],
        ]
    ])

    private func notes(_ fixture: TestStore) throws -> [String] {
        try fixture.rows("Notes").compactMap { $0["secret"].text }.sorted()
    }

    @Test(.aboutFiles("the bytes are looked for in files"), arguments: Removal.allCases)
    func `a sign-out opens no entry of another account`(removal: Removal) throws {
        let fixture = try TestStore(Self.crowd)
        let others = try fixture.store.read { session in
            try session.connection.all("SELECT id, entry FROM foreign_entry ORDER BY id DESC LIMIT 2") {
                ($0.integer(0), $0.blob(1))
            }
        }
        // What cannot be opened was not opened where nothing is thrown.
        try fixture.store.write { session in
            _ = try session.connection.run(
                "UPDATE foreign_entry SET entry = x'00' WHERE id >= ?1",
                .integer(others[1].0)
            )
        }
        try removal.run(fixture.store)
        try fixture.store.write { session in
            for (id, entry) in others {
                try session.connection.run(
                    "UPDATE foreign_entry SET entry = ?2 WHERE id = ?1",
                    .integer(id),
                    .blob(entry)
                )
            }
        }
        #expect(try notes(fixture) == ["other", "other key"])
    }

    @Test func `a sign-out of an account that is not stored takes what is kept aside of it`() throws {
        let fixture = try TestStore(Self.crowd)
        let other = Account.ID(issuer: Fixture.account.issuer, homeAccountID: "u2.t1")
        try fixture.store.removeAccount(other)
        #expect(try notes(fixture) == ["own", "own key"])
    }

    @Test(arguments: [false, true])
    func `an entry older than the index or a rekey is removed with its account`(isRekeyed: Bool) throws {
        let fixture = try TestStore(Self.crowd)
        if isRekeyed {
            _ = try fixture.store.rekey()
        } else {
            try fixture.store.write { try $0.connection.execute("UPDATE foreign_entry SET account_hash = NULL") }
        }
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        #expect(try notes(fixture) == ["other", "other key"])
        let missing = try fixture.store.read {
            try $0.connection.integer("SELECT count(*) FROM foreign_entry WHERE account_hash IS NULL")
        }
        #expect(missing == 0)
    }

    @Test func `a corrected row replaces the one in quarantine`() throws {
        let fixture = try TestStore(["AccessToken": ["k": .accessToken("a", "s1", ["expires_on": nil])]])
        #expect(try fixture.store.status().quarantined == 1)
        try fixture.take(["AccessToken": ["k": .accessToken("a", "s1")]])
        #expect(try fixture.store.status().quarantined == 0)
        #expect(try fixture.rows("AccessToken").count == 1)
    }

    @Test func `a sign-out of one client leaves the rows of another`() throws {
        let rows: [JSONValue] = ["cid", "cid2"].map { .accessToken($0, "s1", ["client_id": .string($0)]) }
        let bad: [JSONValue] = rows.map { $0.with(["target": nil]) }
        let fixture = try TestStore(.cache(accessTokens: rows + bad, accounts: [.account()]))
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["cid2", "cid2"])
    }

    @Test func `a purged account that is imported again has its sign-out and authorities`() throws {
        let fixture = try TestStore(Self.signedOut())
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
        _ = try fixture.store.purge(.homeAccountID(Fixture.home))
        #expect(try items(fixture).object?.members.map(\.name) == ["u9.t1"])
        try fixture.take(Self.signedOut())
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
        let common = "https://login.microsoftonline.com/common"
        try fixture.store.signInAgain()
        #expect(try fixture.request("s2", at: common) == .hit("mapped"))
    }

    @Test func `a token of a client that the metadata calls signed out is not returned`() throws {
        let fixture = try TestStore(Self.signedOut())
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        #expect(try fixture.request("s1") == .signIn(.signedOut))
        let authority = try Authority(parsing: "https://login.microsoftonline.com/t1")
        let state = try #require(try fixture.store.silentState(for: query) { _ in authority })
        #expect(state.usable == nil)
        #expect(state.extended == nil)
        #expect(state.candidates.isEmpty)
        #expect(try fixture.store.newestAccessToken(for: query) == nil)
        #expect(try fixture.store.consideredTokens(for: query).contains { $0.reason == "the account has signed out" })
        try fixture.store.signInAgain()
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test func `account metadata counts also when the account is imported later`() throws {
        let fixture = try TestStore(Self.metadata("signed_out").with(["Account": [:]]))
        try fixture.take(Self.signedOut())
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedOut)
    }

    @Test func `a sign-out before the latest sign-in is not exported, a later one is`() throws {
        let fixture = try TestStore(Self.signedOut())
        try fixture.store.signInAgain()
        #expect(try items(fixture)[Fixture.home]["sign_in_state"] == "unknown")
        #expect(try items(fixture)["u9.t1"]["sign_in_state"] == "signed_out")
        let copy = try TestStore(fixture.export())
        #expect(try copy.request("s1") == .hit("a"))
        #expect(try copy.request("s9") == .refresh(["newer"]))
        let other = try TestStore(
            Self.document.with(["AccountMetadataMap": Self.metadata("signed_in")["AccountMetadataMap"]])
        )
        try other.take(.cache(accessTokens: [.accessToken("b", "s1", ["client_id": "cid2"])]))
        try other.store.removeAccount(Fixture.account, client: "cid")
        #expect(try items(other)[Fixture.home]["sign_in_state"] == "signed_out")
    }

    @Test func `importing the same metadata twice changes nothing`() throws {
        let fixture = try TestStore(Self.signedOut())
        try fixture.store.signInAgain()
        let export = try fixture.export()
        #expect(try fixture.take(Self.metadata("signed_out").with(["Account": [:]])).changes == 0)
        #expect(try fixture.export() == export)
    }

    @Test func `a name that is too long only when it is folded stops no import`() throws {
        let name = String(repeating: "\u{130}", count: 300)
        let item: JSONValue = [
            "client_id": "cid", "athority_map": ["URLMap-": .object(.init([("https://id.example/" + name, "x")]))],
        ]
        let record: JSONValue = ["client_id": "cid", "account_metadata_map": .object(.init([(Fixture.home, item)]))]
        let ofOther = item.with(["client_id": .string(name), "sign_in_state": "signed_out"])
        let other: JSONValue = ["account_metadata_map": .object(.init([(Fixture.home, ofOther)]))]
        let document = JSONValue.cache(
            refreshTokens: [.refreshToken("r1")],
            idTokens: [.idToken(Fixture.claims(["oid": .string(name)]))]
        )
        let fixture = try TestStore()
        let report = try fixture.take(document.with(["AccountMetadataMap": ["cid": record, "other": other]]))
        #expect([report.refreshTokens, report.idTokens, report.other] == [1, 1, 2])
        #expect(try fixture.request("s1") == .refresh(["r1"]))
    }
}

extension TokenStore {
    /// An import of a newer refresh token takes a sign-out back.
    fileprivate func signInAgain() throws {
        let newer: KeyValuePairs<String, JSONValue> = ["last_modification_time": .seconds(Fixture.now)]
        try take(JSONValue.cache(refreshTokens: [.refreshToken("newer", newer)]).serialized)
    }
}
