import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// An issuer at a port other than 443, in the cache of MSAL for Python, which names hosts without ports.
@Suite(.onBothEngines)
struct PortTests {
    private static func store(ports: Int...) throws -> TestStore {
        let fixture = try TestStore()
        for port in ports { try fixture.signIn(subject: "1", atIssuer: "https://id.example:\(port)/op", "\(port)") }
        return fixture
    }

    private static let buckets = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"]

    @Test func `an export has hosts without ports in entries and keys`() throws {
        let document = try Self.store(ports: 8_443).export()
        for bucket in Self.buckets {
            let entries = document[bucket].object?.members ?? []
            #expect(entries.map { $0.value["environment"].text } == ["id.example"], "\(bucket)")
            #expect(entries.allSatisfy { $0.name.contains("id.example-") }, "\(bucket)")
            #expect(!entries.contains { $0.name.contains("8443") }, "\(bucket)")
        }
        #expect(document["AccessToken"].object?.members.first?.name == "1-id.example-accesstoken-app-op-read")
    }

    @Test func `a port that no ID token tells comes back`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "id.example:8443"]
        let document = JSONValue.cache(
            accessTokens: [.accessToken("a", "s1", host)],
            refreshTokens: [.refreshToken("r", host)],
            accounts: [.account(host)]
        )
        let export = try TestStore(document).export()
        let copy = try TestStore(export)
        for bucket in ["AccessToken", "RefreshToken", "Account"] {
            let entries = export[bucket].object?.members ?? []
            #expect(entries.map { $0.value["environment"].text } == ["id.example:8443"], "\(bucket)")
        }
        #expect(try copy.store.accounts().map(\.environment) == ["id.example:8443"])
    }

    private static let tenant = "5f2d6e0a-0000-4000-8000-000000000002"

    /// An environment, an id, and the issuers in ID tokens; nil stands for a token that cannot be decoded.
    private static let untoldPorts: [(String, String, [String?])] = [
        ("127.0.0.1:9444", "o1-b2c_1_x.\(tenant)", [nil]), ("[::1]:9444", "1", [nil]), ("id.example:8443", "1", [nil]),
        ("id.example:444", "o1-b2c_1_x.\(tenant)", ["https://fs.b2clogin.com/\(tenant)/v2.0/"]),
        ("fs.example:444", "1", ["http://sts.example/adfs/services/trust"]),
        ("fs.example:444", "1", ["https://fs.example/adfs"]),
        ("id.example:8443", "1", ["https://id.example:8443/op", nil]),
        ("login.microsoftonline.com:444", "o1.\(tenant)", ["https://login.microsoftonline.com:444/\(tenant)/v2.0"]),
    ]

    @Test(arguments: untoldPorts)
    func `a port that some ID token of the account does not tell comes back`(
        environment: String,
        homeAccountID: String,
        issuers: [String?]
    ) throws {
        func row(_ number: Int) -> KeyValuePairs<String, JSONValue> {
            [
                "environment": .string(environment), "home_account_id": .string(homeAccountID),
                "client_id": .string("c\(number)"), "realm": .string(Self.tenant),
            ]
        }
        let document = JSONValue.cache(
            accessTokens: issuers.indices.map { .accessToken("a\($0)", "s1", row($0)) },
            refreshTokens: issuers.indices.map { .refreshToken("r\($0)", row($0)) },
            idTokens: issuers.enumerated().map { number, issuer in
                let claims = Fixture.claims(["iss": .string(issuer ?? ""), "sub": "1", "tid": .string(Self.tenant)])
                let token = JSONValue.idToken(claims, row(number))
                return issuer == nil ? token.with(["secret": "a.b.c.d.e"]) : token
            },
            accounts: [.account(row(0))]
        )
        let fixture = try TestStore(document)
        let export = try fixture.export()
        let copy = try TestStore(export)
        for bucket in ["AccessToken", "RefreshToken", "IdToken", "Account"] {
            let names = try copy.rows(bucket).map { $0["environment"].text }
            #expect(Set(names) == [environment], "\(bucket)")
        }
        #expect(Set(try copy.store.accounts().map(\.id)) == Set(try fixture.store.accounts().map(\.id)))
        #expect(try fixture.take(export).changes == 0)
    }

    @Test(arguments: [JSONValue.null, ""])
    func `the port of a client's own token comes back`(account: JSONValue) throws {
        let row: KeyValuePairs<String, JSONValue> = ["environment": "id.example:8443", "home_account_id": account]
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1", row)]))
        let export = try fixture.export()
        #expect(try fixture.take(export).changes == 0)
        #expect(try fixture.rows("AccessToken").count == 1)
        let copy = try TestStore(export)
        #expect(try copy.rows("AccessToken").map { $0["environment"].text } == ["id.example:8443"])
    }

    @Test func `a client's own token at a port says nothing of its metadata`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["environment": "id.example:8443"]
        let own = JSONValue.accessToken("own", "s1", host).with(["home_account_id": nil])
        let fixture = try TestStore(.cache(accessTokens: [own], appMetadata: [.appMetadata(host)]))
        let export = try fixture.export()
        #expect(try fixture.take(export).changes == 0)
        #expect(try fixture.rows("AppMetadata").count == 1)
    }

    @Test(arguments: [["id.example", "id.example:8443"], ["id.example:8443", "id.example"]])
    func `metadata of one client at two ports of a host stays two`(hosts: [String]) throws {
        let rows = hosts.map { JSONValue.appMetadata(["environment": .string($0)]) }
        let fixture = try TestStore(.cache(appMetadata: rows))
        let export = try fixture.export()
        #expect(try fixture.take(export).changes == 0)
        let copy = try TestStore(export)
        #expect(Set(try copy.rows("AppMetadata").compactMap { $0["environment"].text }) == Set(hosts))
        let other = try TestStore(.cache(appMetadata: [.appMetadata(["environment": "id.example:8443"])]))
        #expect(try other.take(export).changes == 1)
        #expect(try other.rows("AppMetadata").count == 2)
    }

    @Test func `a re-import changes nothing but the tokens that MSAL refreshed`() throws {
        let fixture = try Self.store(ports: 8_443)
        let document = try fixture.export()
        #expect(try fixture.take(document).changes == 0)
        let text = document.serialized.replacing("rt-8443", with: "rt-new").replacing("at-8443", with: "at-new")
        let time = "\"last_modification_time\":\"\(Fixture.now)\""
        _ = try fixture.store.take(
            text.replacing(time, with: time.replacing("\(Fixture.now)", with: "\(Fixture.now + 9)"))
        )
        #expect(try fixture.rows("RefreshToken").map { $0["secret"].text } == ["rt-new"])
        #expect(try fixture.store.status().accounts == 1)
    }

    @Test func `of many accounts with one id each is found at the port of its host`() throws {
        let numbers = 0..<100
        func row(_ number: Int, port: String = "") -> KeyValuePairs<String, JSONValue> {
            ["environment": .string("h\(number).example" + port), "home_account_id": "1"]
        }
        let document = JSONValue.cache(
            refreshTokens: numbers.map { .refreshToken("old\($0)", row($0, port: ":8443")) },
            idTokens: numbers.map { number in
                let issuer = JSONValue.string("https://h\(number).example:8443/op")
                let claims: JSONValue = ["iss": issuer, "sub": "1", "aud": "cid"]
                return .idToken(claims, row(number, port: ":8443")).with(["realm": "op"])
            }
        )
        let fixture = try TestStore(document)
        let export = try fixture.export()
        let hosts = export["IdToken"].object?.members.compactMap { $0.value["environment"].text }
        #expect(Set(hosts ?? []) == Set(numbers.map { "h\($0).example" }))
        #expect(try fixture.take(export).changes == 0)
        let newer = numbers.map { number in
            JSONValue.refreshToken("new\(number)", row(number)).with(["last_modification_time": .seconds(Fixture.now)])
        }
        #expect(try fixture.take(.cache(refreshTokens: newer)).refreshTokens == numbers.count)
        #expect(try fixture.store.accounts().count == numbers.count)
        for number in [0, 63, 64, 99] {
            let account = Account.ID(issuer: "https://h\(number).example:8443/op", homeAccountID: "1")
            let tokens = try fixture.store.refreshTokens(of: account, client: "cid")
            #expect(tokens.map(\.secret) == [Secret("new\(number)")])
        }
    }

    @Test(arguments: ["id.example", "ID.example", "login.microsoftonline.com", "[::1]"])
    func `the usual port makes no other account`(host: String) throws {
        func document(_ environment: String) -> JSONValue {
            let row: KeyValuePairs<String, JSONValue> = ["environment": .string(environment)]
            return .cache(refreshTokens: [.refreshToken("r", row)], accounts: [.account(row)])
        }
        let fixture = try TestStore(document(host + ":443"))
        #expect(try fixture.store.accounts().map(\.environment) == [host.lowercased()])
        #expect(try fixture.take(document(host)).changes == 0)
    }

    @Test func `capital letters in the name of a host make no other account, profile or token`() throws {
        func document(_ host: String, _ name: String, at time: Int64) -> JSONValue {
            let row: KeyValuePairs<String, JSONValue> = ["environment": .string(host)]
            let accessToken = JSONValue.accessToken("a-" + name, "s1", row)
            let refreshToken = JSONValue.refreshToken("r-" + name, row)
            return .cache(
                accessTokens: [accessToken.with(["cached_at": .seconds(time)])],
                refreshTokens: [refreshToken.with(["last_modification_time": .seconds(time)])],
                idTokens: [.idToken(Fixture.claims(["iat": .number("\(time)")]), row)],
                accounts: [.account(row)],
                appMetadata: [.appMetadata(row)]
            )
        }
        let fixture = try TestStore(document("Login.MicrosoftOnline.COM", "old", at: Fixture.now - 900))
        try fixture.take(document(Fixture.host, "new", at: Fixture.now - 90))
        for bucket in ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"] {
            let hosts = try fixture.rows(bucket).map { $0["environment"] }
            #expect(hosts == [.string(Fixture.host)], "\(bucket)")
        }
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["a-new"])
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r-new"])
    }

    @Test func `the usual port of an issuer makes no other account of Microsoft's kind`() throws {
        let tenant = "5f2d6e0a-0000-4000-8000-000000000002"
        let row: KeyValuePairs<String, JSONValue> = [
            "home_account_id": .string("0b8f7a9e-0000-4000-8000-000000000001." + tenant),
            "environment": "id.example", "realm": .string(tenant),
        ]
        for port in ["", ":443"] {
            let claims = Fixture.claims(["iss": .string("https://id.example\(port)/\(tenant)/v2.0")])
            let fixture = try TestStore(.cache(idTokens: [.idToken(claims, row)], accounts: [.account(row)]))
            #expect(try fixture.store.accounts().map(\.id.issuer) == ["id.example"], "\(port)")
        }
    }

    @Test func `accounts with one subject at two ports of a host keep their ports`() throws {
        let fixture = try Self.store(ports: 8_443, 9_443)
        let document = try fixture.export()
        for bucket in ["AccessToken", "RefreshToken", "IdToken", "Account"] {
            let names = document[bucket].object?.members.map { $0.value["environment"].text } ?? []
            #expect(Set(names) == ["id.example:8443", "id.example:9443"], "\(bucket)")
        }
        #expect(try fixture.take(document).changes == 0)
    }

    @Test func `an export that lost one of two ports changes no token of a store that has both`() throws {
        let fixture = try Self.store(ports: 8_443, 9_443)
        let buckets = ["AccessToken", "RefreshToken", "IdToken", "Account"]
        let before = try buckets.map { Set(try fixture.rows($0)) }
        let document = try Self.store(ports: 8_443).export()
        #expect(document["IdToken"].object?.members.map { $0.value["environment"].text } == ["id.example"])
        #expect(try fixture.take(document).rejected.isEmpty)
        #expect(try buckets.map { Set(try fixture.rows($0)) } == before)
        #expect(try fixture.store.status().accounts == 2)
    }

    @Test(arguments: [false, true])
    func `tokens at a host stay apart from those of its port that the document names too`(isKnown: Bool) throws {
        let host: KeyValuePairs<String, JSONValue> = [
            "home_account_id": "1", "environment": "id.example", "client_id": "app", "realm": "op", "target": "read",
        ]
        let fixture = try TestStore(
            .cache(accessTokens: [.accessToken("at", "read", host)], refreshTokens: [.refreshToken("rt", host)])
        )
        try fixture.signIn(subject: "1", atIssuer: "https://id.example:8443/op", "8443")
        let export = try fixture.export()
        let copy = try isKnown ? Self.store(ports: 8_443) : TestStore()
        try copy.take(export)
        let ids = try copy.store.accounts().map(\.id)
        #expect(Set(ids) == Set(try fixture.store.accounts().map(\.id)))
        #expect(ids.count == 2)
        for id in ids {
            let name = id.issuer == "id.example" ? "" : "-8443"
            #expect(try copy.store.refreshTokens(of: id, client: "app").map(\.secret) == [Secret("rt" + name)])
            #expect(try copy.request("read", of: id, client: "app") == .hit("at" + name))
        }
        #expect(try fixture.take(export).changes == 0)
    }

    @Test func `an address of IPv6 without its port is the one of the issuer in the ID token`() throws {
        let host: KeyValuePairs<String, JSONValue> = ["home_account_id": "s1", "environment": "::1", "realm": "adfs"]
        let claims: JSONValue = ["iss": "https://[::1]:9000/adfs", "sub": "s1", "aud": "cid"]
        let fixture = try TestStore()
        let report = try fixture.take(
            .cache(refreshTokens: [.refreshToken("r", host)], idTokens: [.idToken(claims, host)])
        )
        #expect(report.rejected.isEmpty)
        let account = try #require(try fixture.store.accounts().first)
        #expect(account.id.issuer == "https://[::1]:9000/adfs")
        #expect(try fixture.store.refreshTokens(of: account.id, client: "cid").map(\.secret) == [Secret("r")])
    }

    @Test func `an account with the same id at another port of the host is an account of its own`() throws {
        let fixture = try TestStore()
        let home = "0b8f7a9e-0000-4000-8000-000000000001.5f2d6e0a-0000-4000-8000-000000000002"
        let tenant = "5f2d6e0a-0000-4000-8000-000000000002"
        func document(_ environment: String, port: Int, _ name: String) -> JSONValue {
            let row: KeyValuePairs<String, JSONValue> = [
                "home_account_id": .string(home), "environment": .string(environment), "realm": .string(tenant),
            ]
            let claims = Fixture.claims(["iss": .string("https://id.example:\(port)/\(tenant)/v2.0")])
            return .cache(
                refreshTokens: [.refreshToken("rt-" + name, row)],
                idTokens: [.idToken(claims, row)],
                accounts: [.account(row)]
            )
        }
        try fixture.take(document("id.example:9999", port: 9_999, "first"))
        try fixture.take(document("id.example", port: 8_443, "second"))
        #expect(try fixture.store.status().accounts == 2)
        #expect(Set(try fixture.rows("RefreshToken").map { $0["secret"].text }) == ["rt-first", "rt-second"])
    }
}
