import Database
import OAuth
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Texts that a server can neither store nor find rows by, and that therefore no store takes.
@Suite(.onBothEngines)
struct UnfitTextTests {
    /// Too long for an index, also where a server compresses it.
    private static let long: String = {
        var generator = SeededGenerator(seed: 1)
        return (0..<300).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }.joined()
    }()

    enum Flaw: CaseIterable {
        case nul
        case length

        var text: String { self == .nul ? "a\u{0}b" : UnfitTextTests.long }
    }

    private static let openIssuer = "https://issuer.example/tenant"

    private func openSignIn(_ fixture: TestStore, _ claims: KeyValuePairs<String, JSONValue>) throws {
        let base: JSONValue = ["iss": .string(Self.openIssuer), "aud": "cid", "sub": "s1"]
        let token = Fixture.idToken(base.with(claims))
        try fixture.signIn(.signIn(["id_token": .string(token)], without: "client_info"), at: Self.openIssuer)
    }

    @Test(arguments: Flaw.allCases)
    func `what only describes an account is left out, and the claims keep it`(flaw: Flaw) throws {
        let text = flaw.text
        let fixture = try TestStore()
        let claims = Fixture.claims([
            "preferred_username": .string(text), "name": .string(text), "tfp": .string(text),
            "other": .string(text),
        ])
        let response = try TokenResponse.signIn([
            "id_token": .string(Fixture.idToken(claims)), "scope": .string("s1 s2\u{0} s3"), "foci": .string("1\u{0}"),
        ])
        let saved = try fixture.signIn(response)
        #expect(saved.grantedScope.tokens == ["s1", "s3"])
        let account = try #require(try fixture.store.accounts().first)
        #expect(account.username.isEmpty && account.userFlow == nil)
        #expect(account.name == text)
        #expect(try fixture.store.idTokens(of: account.id).first?.idToken.claims.payload["other"] == .string(text))
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.check() == [])
    }

    @Test func `a sign-in of a user without an id is refused with the reason`() throws {
        let fixture = try TestStore()
        let error = expectError(.failure) { try openSignIn(fixture, ["sub": ""]) }
        #expect(error?.code == .notStored)
        #expect(error?.problem.contains("the id of the user is empty") == true, "\(error?.problem ?? "")")
        #expect(try fixture.store.accounts().isEmpty)
    }

    @Test(arguments: Flaw.allCases)
    func `a sign-in of an account that cannot be stored is refused with the reason`(flaw: Flaw) throws {
        let text = flaw.text
        let fixture = try TestStore()
        let issuer = JSONValue.string("https://issuer.example/" + text)
        for claims: KeyValuePairs<String, JSONValue> in [["sub": .string(text)], ["iss": issuer]] {
            let error = expectError(.failure) { try openSignIn(fixture, claims) }
            #expect(error?.code == .notStored)
            #expect(error?.problem.contains(flaw == .nul ? "has a NUL character" : "is longer than 800 bytes") == true)
        }
        for claims: KeyValuePairs<String, JSONValue> in [["tid": .string(text)]] {
            let response = try TokenResponse.signIn(["id_token": .string(Fixture.idToken(Fixture.claims(claims)))])
            #expect(expectError(.failure) { try fixture.signIn(response) }?.code == .notStored)
        }
        #expect(expectError(.failure) { try fixture.signIn(.signIn(), client: text) }?.code == .notStored)
        #expect(try fixture.store.accounts().isEmpty)
        #expect(try fixture.location.path?.pendingAnswers().isEmpty ?? true)
        try openSignIn(fixture, [:])
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `a session that names no account is refused with its answer`() throws {
        let fixture = try TestStore()
        let authority = try Authority(issuer: Self.openIssuer)
        func save(_ grant: Grant) throws -> SavedTokens {
            try fixture.store.save(
                .new(["access_token": "a", "refresh_token": "r"]),
                for: TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: grant)
            )
        }
        for grant in [Grant.authorizationCode, .deviceCode] {
            let error = expectError(.failure) { _ = try save(grant) }
            #expect(error?.code == .notStored)
            #expect(error?.response?.refreshToken == Secret("r"))
            #expect(error?.problem.contains("names no account") == true, "\(error?.problem ?? "")")
        }
        // That of the client itself is of nobody.
        #expect(try save(.clientCredentials).account == nil)
        #expect(try fixture.store.accounts().isEmpty)
    }

    @Test(arguments: Flaw.allCases)
    func `an answer that no store takes is known without one`(flaw: Flaw) throws {
        let authority = try Authority(issuer: Self.openIssuer)
        let request = TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: .deviceCode)
        func response(_ subject: String) throws -> TokenResponse {
            let claims: JSONValue = ["iss": .string(Self.openIssuer), "aud": "cid", "sub": .string(subject)]
            return try TokenResponse.new(["id_token": .string(Fixture.idToken(claims))])
        }
        try response("s1").requireStorable(for: request)
        let unfit = try response(flaw.text)
        let error = #expect(throws: TokenStoreError.self) { try unfit.requireStorable(for: request) }
        #expect(error?.code == .notStored)
        // They are revoked, so nobody is to keep them.
        #expect(error?.response == nil)
    }

    @Test(arguments: Flaw.allCases)
    func `the tokens of a refresh are stored whatever tenant its ID token names`(flaw: Flaw) throws {
        let fixture = try TestStore()
        try openSignIn(fixture, [:])
        let account = try #require(try fixture.store.accounts().first)
        let used = try #require(try fixture.store.refreshTokens(of: account.id, client: "cid").first)
        let authority = try Authority(issuer: Self.openIssuer)
        let request = TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: .refreshToken)
        let claims: JSONValue = [
            "iss": .string(Self.openIssuer), "aud": "cid", "sub": "s1", "tid": .string(flaw.text),
        ]
        let response = try TokenResponse.new([
            "access_token": "a2", "refresh_token": "r2", "id_token": .string(Fixture.idToken(claims)),
        ])
        let saved = try fixture.store.save(response, for: request, refreshing: used)
        #expect(saved.outcome == .stored)
        #expect(try fixture.store.refreshTokens(of: account.id, client: "cid").map(\.secret) == [Secret("r2")])
        #expect(try fixture.store.check() == [])
    }

    @Test(arguments: ["home_account_id", "environment", "client_id", "realm"])
    func `an entry that cannot be stored is kept aside, and stops no other`(field: String) throws {
        let fixture = try TestStore()
        let odd = JSONValue.accessToken("odd", "s2", [:]).with([field: .string(Self.long)])
        var document = JSONValue.standardCache(.accessToken("a", "s1"), odd)
        let foreign = Fixture.claims(["iss": .string("https://x.example/" + Self.long)])
        document = document.with([
            "IdToken": [
                "k": .idToken(),
                "l": .idToken(foreign, ["environment": "x.example", "home_account_id": "s1"]),
                "m": .idToken(
                    Fixture.claims(["iss": "https://y.example/i\u{0}"]),
                    ["environment": "y.example", "home_account_id": "s1"]
                ),
            ]
        ])
        let report = try fixture.take(document)
        #expect(report.rejected.count == 3)
        #expect(report.rejected.contains { $0.reason == "its \(field) is longer than 800 bytes" })
        #expect(report.rejected.filter { $0.reason.hasPrefix("its issuer ") }.count == 2)
        #expect(try fixture.request("s1") == .hit("a"))
        let rows = try fixture.rows("AccessToken") + fixture.rows("IdToken")
        #expect(rows.count == 5 && rows.contains(odd))
        #expect(try fixture.take(document).changes == 0)
    }

    @Test func `a name that rows cannot be found by goes back out as it came`() throws {
        let fixture = try TestStore()
        let account = JSONValue.account(["username": .string(Self.long), "local_account_id": .string(Self.long)])
        let metadata: JSONValue = [
            "cid": [
                "client_id": "cid",
                "account_metadata_map": [
                    "u1.t1": ["athority_map": ["https://a.example": [.init(stringLiteral: Self.long): "r"]]]
                ],
            ]
        ]
        let document = JSONValue.cache(accounts: [account]).with(["AccountMetadataMap": metadata])
        #expect(try fixture.take(document).rejected == [])
        #expect(try fixture.rows("Account") == [account])
        #expect(try fixture.export()["AccountMetadataMap"] == metadata)
        #expect(try fixture.store.accounts().map(\.username) == [""])
    }

    @Test func `a text from before is found before anything is copied`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let target = try TestStore()
        try fixture.store.read { try $0.requireFit(for: target.location) }
        guard fixture.location.path != nil else { return }
        try fixture.store.write { session in
            let row = try #require(try session.accountRow(Fixture.account))
            let table = SealedTable.account
            var clear: [Value] = []
            try session.connection.forEach(SQL(table.selection + "WHERE t.id = ?1"), .integer(row)) { row in
                clear = table.clear.map { $0 == "username_fold" ? .text(Self.long) : row.value(table[$0]) }
            }
            session.clearValues.removeAll()
            for value in clear { session.clearValues.append(value) }
            let place = SealedLocation(table: "account", column: "name", owner: 0, row: row)
            let name = try session.currentSealer().seal(Secret(""), as: place, with: session.clearValues.bytes)
            try session.connection.run(table.upsert, [.integer(row)] + clear + [.blob(name)])
        }
        #expect(try fixture.store.check() == [])
        let error = expectError(.failure) {
            try TokenStore.copy(from: fixture.location, to: target.location, reading: fixture.options)
        }
        #expect(error?.problem.contains("username_fold is longer than 800 bytes") == true)
        try fixture.signIn(.signIn())
    }
}
