import Database
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Outside Microsoft's hosts the case of letters tells subjects apart (OpenID Connect Core §2).
@Suite(.onBothEngines)
struct SubjectTests {
    private static let issuer = "https://login.example.org"
    private static let subjects = ["Zm9vYg", "zM9vYg", "zm9vyg"]
    private static let ids = subjects.map { Account.ID(issuer: issuer, homeAccountID: $0) }

    private static func idToken(_ subject: String) -> String {
        Fixture.idToken(["iss": .string(issuer), "sub": .string(subject), "aud": "cid", "iat": 1_789_999_990])
    }

    private static func response(_ subject: String) throws -> TokenResponse {
        try TokenResponse([
            "access_token": .string("a-" + subject), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": .string("r-" + subject), "id_token": .string(idToken(subject)),
        ])
    }

    private static func store() throws -> TestStore {
        let fixture = try TestStore()
        for subject in subjects { try signIn(subject, fixture.store) }
        return fixture
    }

    private static func signIn(_ subject: String, _ store: TokenStore) throws {
        _ = try store.save(response(subject), for: request(.authorizationCode))
    }

    private static func request(_ grant: Grant) throws -> TokenRequest {
        TokenRequest(clientID: "cid", authority: try Authority(issuer: issuer), scope: "s1", grant: grant)
    }

    @Test func `subjects that differ in case are different accounts`() throws {
        let fixture = try Self.store()
        #expect(try Set(fixture.store.accounts().map(\.id.homeAccountID)) == Set(Self.subjects))
        for (subject, id) in zip(Self.subjects, Self.ids) {
            #expect(try fixture.request("s1", of: id) == .hit("a-" + subject))
        }
        try fixture.store.removeAccount(Self.ids[0], client: "cid")
        #expect(try fixture.store.signInState(of: Self.ids[1], client: "cid") == .signedIn)
        #expect(try fixture.request("s1", of: Self.ids[1]) == .hit("a-zM9vYg"))
    }

    @Test func `an id finds its own account, and none once that is gone`() async throws {
        let fixture = try Self.store()
        for id in Self.ids { #expect(try await fixture.store.account(id)?.id == id) }
        try await fixture.store.removeAccount(Self.ids[0], client: "cid")
        #expect(try await fixture.store.account(Self.ids[0]) == nil)
        for id in Self.ids.dropFirst() { #expect(try await fixture.store.account(id)?.id == id) }
    }

    /// As Google leaves it out for older clients (OpenID Connect Core §15.6.2).
    @Test func `an ID token whose issuer lacks its scheme is of the same account`() throws {
        let fixture = try TestStore()
        let google = "https://accounts.google.com"
        let authority = try Authority(issuer: google)
        let request = TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: .authorizationCode)
        for named in ["accounts.google.com", google] {
            let claims: JSONValue = ["iss": .string(named), "sub": "s1", "aud": "cid", "iat": 1_789_999_990]
            let response = try TokenResponse([
                "access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r",
                "id_token": .string(Fixture.idToken(claims)),
            ])
            #expect(try fixture.store.save(response, for: request).account?.issuer == google)
        }
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `a typed id is found in any case, and an exact match goes first`() throws {
        let fixture = try Self.store()
        for policy in [AccountPolicy.homeAccountID("ZM9VYG"), .identifier("zm9vYG")] {
            #expect(try fixture.store.accounts(matching: policy).count == 3)
        }
        for policy in [AccountPolicy.homeAccountID("zM9vYg"), .identifier("zM9vYg").and(.issuer(Self.issuer))] {
            #expect(try fixture.store.accounts(matching: policy).map(\.id.homeAccountID) == ["zM9vYg"])
        }
        try fixture.store.removeAccount(Self.ids[2])
        try fixture.store.removeAccount(Self.ids[1])
        #expect(try fixture.store.accounts(matching: .identifier("zm9vyg")).map(\.id.homeAccountID) == ["Zm9vYg"])
    }

    @Test func `an account that is left for another reason is not taken for one whose id differs in case`() throws {
        let fixture = try TestStore()
        try Self.signIn("Zm9vYg", fixture.store)
        let authority = try Authority(issuer: Self.issuer)
        let other = TokenRequest(clientID: "cid2", authority: authority, scope: "s1", grant: .authorizationCode)
        _ = try fixture.store.save(Self.response("zM9vYg"), for: other)
        func found(_ id: String, _ client: String) throws -> [String] {
            let found = try [AccountPolicy.homeAccountID(id), .identifier(id)].map { policy in
                try fixture.store.accounts(matching: policy.and(.client(client))).map(\.id.homeAccountID)
            }
            #expect(found[0] == found[1])
            return found[0]
        }
        #expect(try found("zM9vYg", "cid2") == ["zM9vYg"])
        #expect(try found("zM9vYg", "cid") == [])
        // Of an id that no account has letter by letter, the one that fits is meant.
        #expect(try found("ZM9VYG", "cid") == ["Zm9vYg"])
    }

    @Test func `a refresh answer whose subject differs in case is for another account`() throws {
        let fixture = try Self.store()
        let used = try fixture.currentRefreshToken(of: Self.ids[0])
        let request = try Self.request(.refreshToken)
        #expect(throws: (any Error).self) {
            try fixture.store.save(Self.response("zM9vYg"), for: request, refreshing: used)
        }
        #expect(try fixture.store.save(Self.response("Zm9vYg"), for: request, refreshing: used).accessToken != nil)
    }

    @Test func `imported rows belong to the subject they name`() throws {
        func row(_ row: JSONValue, _ subject: String) -> JSONValue {
            row.with(["home_account_id": .string(subject), "environment": "login.example.org", "realm": ""])
        }
        let fixture = try TestStore(
            .cache(
                accessTokens: Self.subjects.map { row(.accessToken("a-" + $0, "s1"), $0) },
                idTokens: Self.subjects.map { row(.idToken([:], ["secret": .string(Self.idToken($0))]), $0) },
                accounts: Self.subjects.map { row(.account(["username": .string($0)]), $0) }
            )
        )
        for (subject, id) in zip(Self.subjects, Self.ids) {
            #expect(try fixture.request("s1", of: id) == .hit("a-" + subject))
        }
        #expect(try fixture.take(fixture.export()).changes == 0)
    }

    @Test func `account metadata does not apply to a subject that differs in case`() throws {
        let fixture = try Self.store()
        let item: JSONValue = ["client_id": "cid", "sign_in_state": "signed_out"]
        let items: JSONValue = ["Zm9vYg": item, "ZM9VYG": item, "zM9vYg": item]
        let record: JSONValue = ["client_id": "cid", "account_metadata_map": items]
        try fixture.take(["AccountMetadataMap": ["cid": record], "Account": [:]])
        let states = try Self.ids.map { try fixture.store.signInState(of: $0, client: "cid") }
        #expect(states == [.signedOut, .signedOut, .signedIn])
        try fixture.store.removeAccount(Self.ids[0])
        let left = try fixture.export()["AccountMetadataMap"]["cid"]["account_metadata_map"]
        #expect(left.object?.members.map(\.name) == ["ZM9VYG", "zM9vYg"])
    }

    @Test(.aboutFiles("servers never had the older formats"))
    func `accounts stored before subjects were case-sensitive are found`() throws {
        let fixture = try TestStore { $0.schema = Schema(migrations: Array(Migration.all.prefix(5))) }
        try fixture.store.withWriter { session in
            try session.connection.execute(
                """
                INSERT INTO account VALUES
                    (1, 'https://login.example.org', 'Zm9vYg', 'zm9vyg', NULL, NULL, 'login.example.org', NULL, '', '',
                        NULL, NULL, 0, 0),
                    (2, 'login.example.org', 'Zm9vYg', 'zm9vyg', NULL, NULL, 'login.example.org', NULL, '', '',
                        NULL, NULL, 0, 0),
                    (3, 'login.windows.net', 'U1.T1', 'u1.t1', 'U1', 'T1', 'login.windows.net', NULL, '', '',
                        NULL, NULL, 0, 0),
                    (4, 'login.example.org', 'U.7C2F6D1E-5A43-4B8F-9D10-0E6B1A2C3D4E',
                        'u.7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e', NULL, NULL, 'login.example.org', NULL, '', '',
                        NULL, NULL, 0, 0);
                INSERT INTO account_state VALUES
                    ('zm9vyg', 'https://login.example.org', 'cid', 'signed_in', 0),
                    ('gone', 'https://login.example.org', 'cid', 'signed_out', 0);
                INSERT INTO authority_map VALUES ('u1.t1', 'cid', 'https://login.windows.net/common', 'x'),
                    ('gone', 'cid', 'https://login.windows.net/common', 'x');
                INSERT INTO event VALUES
                    (1, 0, 'p', 1, 'sign_in', 'done', 'https://login.example.org', 'Zm9vYg', 'cid', NULL),
                    (2, 0, 'p', 1, 'sign_in', 'done', 'https://login.example.org', 'gone', 'cid', NULL);
                """
            )
        }
        var options = fixture.options
        options.schema = .current
        let store = try TokenStore.open(at: fixture.path, options: options)
        #expect(try store.status().schemaVersion == Migration.all.count)
        #expect(try store.signInState(of: Self.ids[0], client: "cid") == .signedIn)
        let host = Account.ID(issuer: "login.example.org", homeAccountID: "Zm9vYg")
        let shaped = Account.ID(issuer: host.issuer, homeAccountID: "u.7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e")
        for id in [Self.ids[0], host, Fixture.account, shaped] { #expect(try store.account(id)?.id == id) }
        #expect(try store.events().filter { $0.kind == .signIn }.map(\.account) == [nil, Self.ids[0]])
        #expect(try store.events(of: Self.ids[0]).count == 1)
        try Self.signIn("Zm9vYg", store)
        #expect(try store.accounts().count == 4)
        #expect(try store.events(of: Self.ids[0]).count == 2)
        #expect(try store.read { try $0.connection.integer("SELECT count(*) FROM authority_map") } == 1)
    }
}
