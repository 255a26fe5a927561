import Database
import OAuth
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Rows that a program without the key has altered keep no rekey from its end, but for those that hold tokens.
@Suite(.onBothEngines)
struct AlteredRowTests {
    private static let other = Account.ID(issuer: "login.windows.net", homeAccountID: "u2.t1")
    private static let domain = "https://login.microsoftonline.com/example.net"
    private static let url = "https://login.example.org"

    private func signInOther(to fixture: TestStore) throws {
        let claims = Fixture.claims(["sub": "s2", "oid": "u2", "preferred_username": "bob@example.net"])
        try fixture.signIn(
            .signIn([
                "access_token": "b", "refresh_token": "rb", "client_info": .string(Fixture.clientInfo("u2", "t1")),
                "id_token": .string(Fixture.idToken(claims)),
            ])
        )
    }

    private func signIn(to fixture: TestStore) throws {
        let token = Fixture.idToken(Fixture.claims(["tid": "t7"]))
        try fixture.signIn(.signIn(["id_token": .string(token)]), at: Self.domain)
    }

    /// A store with a row in each table whose rows can be done without.
    private func filled() throws -> TestStore {
        let fixture = try TestStore()
        try signInOther(to: fixture)
        try fixture.store.removeAccount(Self.other)
        try signIn(to: fixture)
        try fixture.store.setDefaultAccount(Fixture.account)
        try fixture.store.saveIssuerDocument(
            JSONValue.Object([("issuer", .string(Self.url))]),
            url: Self.url,
            lifetime: 60
        )
        let token = try fixture.currentRefreshToken()
        _ = try fixture.store.beginRefresh(with: token)
        var consequence = RefreshConsequence(token: .possiblyConsumed)
        consequence.throttle = Throttle(beganAt: Fixture.now, expiresAt: Fixture.now + 60, failure: JSONValue.Object())
        let query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s9")
        try fixture.store.endRefresh(with: token, of: query, authority: Self.url, consequence)
        return fixture
    }

    private func count(_ table: String, in fixture: TestStore) throws -> Int64 {
        let count = try fixture.store.withWriter { session in
            try session.connection.prepare("SELECT count(*) FROM \(table)").first([]) { $0.integer(0) }
        }
        return try #require(count)
    }

    /// Runs a statement as any program can that may write rows.
    private func run(_ statement: String, _ values: Value..., in fixture: TestStore) throws {
        try fixture.store.withWriter { try $0.connection.prepare(statement).run(values) }
    }

    /// The proof of another row.
    private func copiedProof(in fixture: TestStore) throws -> Value {
        let proof = try fixture.store.withWriter { session in
            try session.connection.first("SELECT mac FROM event WHERE mac IS NOT NULL") { $0.value(0) }
        }
        return try #require(proof)
    }

    /// The rows with a value that is not under the current data key.
    private func staleRows(in fixture: TestStore) throws -> [String] {
        try fixture.another().read { session in
            let current = try session.currentKeys().currentID
            return try SealedTable.all.flatMap { table in
                try session.connection.all(table.everyRow) { row -> String? in
                    let isStale = table.sealed.indices.contains { index in
                        let column = table.firstSealed + CInt(index)
                        return !row.isNull(column) && Sealer.keyID(of: row.bytes(column)) != current
                    }
                    return isStale ? table.name : nil
                }.compactMap(\.self)
            }
        }
    }

    private static let dispensable = [
        "default_account", "issuer_document", "refresh_attempt", "throttle", "sign_out", "event",
    ]

    @Test(arguments: dispensable, [true, false])
    func `a rekey deletes altered rows that count for nothing`(table: String, isCopied: Bool) throws {
        let fixture = try filled()
        let altered = try count(table, in: fixture)
        #expect(altered > 0)
        // A choice without a proof is not a row of its table.
        let proof = try isCopied || table == "default_account" ? copiedProof(in: fixture) : .null
        try run("UPDATE \(table) SET mac = ?1", proof, in: fixture)
        if isCopied, table == "event" { try run("UPDATE event SET outcome = 'x'", in: fixture) }
        #expect(try fixture.store.rehearseResealing() == Int(altered))
        let report = try fixture.store.rekey()
        #expect(report.altered == Int(altered))
        #expect(try count("data_key", in: fixture) == 1)
        #expect(try staleRows(in: fixture) == [])
        #expect(try count(table, in: fixture) == (table == "event" ? 2 : 0))
        #expect(try fixture.store.check() == [])
        #expect(try fixture.store.events().first?.outcome == "done, \(altered) altered rows left out")
        #expect(try fixture.another().rekey().altered == 0)
    }

    @Test(arguments: ["account_state", "authority_map"], [true, false])
    func `after a rekey what decides a sign-in is still refused`(table: String, isCopied: Bool) throws {
        let fixture = try filled()
        let proof = try isCopied ? copiedProof(in: fixture) : .null
        try run("UPDATE \(table) SET mac = ?1", proof, in: fixture)
        #expect(try fixture.store.rekey().altered == 1)
        #expect(try count("data_key", in: fixture) == 1)
        #expect(try staleRows(in: fixture) == [])
        var query = TokenQuery(account: Fixture.account, clientID: "cid", scope: "s1")
        query.authority = try Authority(parsing: Self.domain)
        expectError(.damaged) { _ = try fixture.another().cachedToken(for: query) }
        #expect(try fixture.store.check().map { $0.location.prefix { $0 != " " } } == [Substring(table)])
        try signIn(to: fixture)
        #expect(try fixture.store.check() == [])
        #expect(try fixture.request("s1", at: Self.domain) == .hit("a"))
    }

    @Test func `an altered refresh token keeps the old key, and all else is under the new one`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try signInOther(to: fixture)
        let row = try fixture.store.withWriter { try $0.accountRow(Self.other) }
        let owner = Value.integer(try #require(row))
        try run("UPDATE refresh_token SET generation = generation + 1 WHERE account_id = ?1", owner, in: fixture)
        let attempts: [() throws -> Void] = [
            { _ = try fixture.store.rehearseResealing() }, { _ = try fixture.store.rekey() },
        ]
        for attempt in attempts {
            let error = expectError(.damaged, from: attempt)
            #expect(error?.problem.contains("refresh_token row") == true, "\(error?.problem ?? "")")
            #expect(error?.problem.contains("of the account u2.t1") == true, "\(error?.problem ?? "")")
        }
        #expect(try staleRows(in: fixture) == ["refresh_token"])
        #expect(try count("data_key", in: fixture) == 2)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.purge(.homeAccountID("u2.t1")).accounts == 1)
        #expect(try fixture.store.rekey().resumed)
        #expect(try count("data_key", in: fixture) == 1)
        #expect(try fixture.store.check() == [])
    }

    /// A row of an id that no row has, and one whose seal names the next data key.
    @Test(
        .aboutFiles("the key of a server's rows is another, and so are its data keys"),
        arguments: [
            "UPDATE refresh_token SET id = -id WHERE account_id = ?1",
            "UPDATE refresh_token SET secret = CAST(substr(secret, 1, 4) || x'02' || substr(secret, 6) AS BLOB) "
                + "WHERE account_id = ?1",
        ]
    )
    func `no altered token is passed over, and the key stays that opens it`(statement: String) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        try signInOther(to: fixture)
        let row = try fixture.store.withWriter { try $0.accountRow(Self.other) }
        try run(statement, .integer(try #require(row)), in: fixture)
        expectError(.damaged) { _ = try fixture.store.rehearseResealing() }
        expectError(.damaged) { _ = try fixture.store.rekey() }
        #expect(try count("data_key", in: fixture) == 2)
    }
}
