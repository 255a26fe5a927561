import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Documents that are made to take time, which others then wait for: by their size alone they take seconds, by its square
/// many minutes.
@Suite(.aboutFiles("a server takes them alike"))
struct HostileDocumentTests {
    /// Members with names of their own.
    private static func members(_ count: Int, _ prefix: String) -> [(name: String, value: JSONValue)] {
        (0..<count).map { (prefix + String($0), 1) }
    }

    @Test func `a large entry is read once, however many have its key in other letter case`() throws {
        let rows = JSONValue.accessToken("a", "s1").object?.members ?? []
        let large = JSONValue.Object(
            rows + [("pad", .array(Array(repeating: .object(JSONValue.Object()), count: 6_000)))]
        )
        let text =
            #"{"AccessToken":{"a":\#(JSONValue.object(large).serialized)"#
            + String(repeating: #","A":{}"#, count: 6_000) + "}}"
        let fixture = try TestStore()
        try fixture.store.take(text)
        let secrets = try fixture.rows("AccessToken").map { $0["secret"] }
        #expect(secrets.contains("a"))
    }

    @Test func `claims of long names are found without an index of their own`() throws {
        let name = String(repeating: "n", count: 20_000)
        let claims = Fixture.claims().with([
            "deep": .object(JSONValue.Object(Self.members(10, name))),
            "team": ["lead": "mara"],
        ])
        let long = JSONValue.Object(Self.members(1_000, "a"))
        let payload = JSONValue.object(JSONValue.Object((claims.object?.members ?? []) + [(name, .object(long))]))
        let fixture = try TestStore(.cache(idTokens: [.idToken(payload)], accounts: [.account()]))
        let plain = try TestStore(.cache(idTokens: [.idToken(claims.with(["deep": ["x": 1]]))], accounts: [.account()]))
        func entries(_ fixture: TestStore) throws -> Int64? {
            try fixture.store.read { try $0.connection.integer("SELECT count(*) FROM claim_index") }
        }
        #expect(try entries(fixture) == entries(plain).map { $0 - 1 })
        let asked: [(String, JSONValue)] = [("team.lead", "mara"), (name + ".a7", 1), ("deep." + name + "7", 1)]
        for (path, value) in asked {
            #expect(try fixture.store.accounts(matching: .claim(path, equals: value)).count == 1)
        }
        #expect(try fixture.store.check() == [])
    }

    @Test func `entries of long paths that an earlier version made are no damage`() throws {
        let name = String(repeating: "n", count: 2_000)
        let payload = Fixture.claims().with(["deep": .object(JSONValue.Object(Self.members(2, name)))])
        let fixture = try TestStore(.cache(idTokens: [.idToken(payload)], accounts: [.account()]))
        func add(_ entries: [ClaimIndex.Entry]) throws {
            try fixture.store.write { session in
                for entry in entries {
                    try session.connection.run(
                        "INSERT INTO claim_index (name_hash, value_hash, id_token_id) VALUES (?1, ?2, 1)",
                        .blob(entry.name),
                        .blob(entry.value)
                    )
                }
            }
        }
        let claims = try IDToken(decoding: Secret(Fixture.idToken(payload))).claims
        let (known, all) = try fixture.store.write { session in
            let index = ClaimIndex(try session.currentSealer())
            return (index.entries(of: claims), index.entries(of: claims, longest: .max))
        }
        let long = Set(all).subtracting(known)
        #expect(long.count == 2)
        try add(Array(long))
        #expect(try fixture.store.check() == [])
        try add([ClaimIndex.Entry(name: [1], value: [2])])
        #expect(try fixture.store.check().count == 1)
    }

    @Test func `an entry of many fields is taken twice and goes out again`() throws {
        let fields = Self.members(30_000, "x")
        let row = JSONValue.Object((JSONValue.accessToken("a", "s1").object?.members ?? []) + fields)
        let document = JSONValue.standardCache(.object(row))
        let fixture = try TestStore(document)
        #expect(try fixture.take(document).changes == 0)
        let exported = try fixture.rows("AccessToken").first?.object?.members ?? []
        #expect(exported.filter { $0.name.hasPrefix("x") }.count == fields.count)
    }

    @Test func `entries that share their key in an export get numbers, however many they are`() throws {
        let tokens = (0..<5_000).map { JSONValue.refreshToken("r\($0)", ["user_assertion_hash": .string("h\($0)")]) }
        let names = try TestStore(.cache(refreshTokens: tokens)).export()["RefreshToken"].object?.members.map(\.name)
        let key = "u1.t1-login.microsoftonline.com-refreshtoken-cid--"
        #expect(names == [key] + (2...5_000).map { "\(key)-\($0)" })
    }

    @Test func `accounts of many issuers of a host with one id are told apart by their clients`() throws {
        let numbers = 0..<4_000
        func row(_ number: Int) -> KeyValuePairs<String, JSONValue> {
            ["environment": "id.example", "home_account_id": "1", "client_id": .string("c\(number)")]
        }
        let document = JSONValue.cache(
            refreshTokens: numbers.map { .refreshToken("r\($0)", row($0)) },
            idTokens: numbers.map { number in
                let claims: JSONValue = ["iss": .string("https://id.example/\(number)"), "sub": "1", "aud": "cid"]
                return .idToken(claims, row(number)).with(["realm": .string("\(number)")])
            }
        )
        let fixture = try TestStore()
        let report = try fixture.take(document)
        #expect(report.rejected == [])
        #expect(report.accounts == numbers.count)
        for number in [0, 63, 64, 3_999] {
            let account = Account.ID(issuer: "https://id.example/\(number)", homeAccountID: "1")
            let tokens = try fixture.store.refreshTokens(of: account, client: "c\(number)")
            #expect(tokens.map(\.secret) == [Secret("r\(number)")])
        }
    }

    @Test func `a scope of many combining marks is a scope`() throws {
        let odd = "a" + String(repeating: "\u{301}\u{316}", count: 20_000)
        let scope = Scope([odd, "read", odd])
        #expect(scope.tokens.count == 2)
        #expect(scope.missing(from: Scope([odd])).tokens == ["read"])
        #expect(scope.intersects(Scope([odd])) && scope.covers(Scope([odd])) && scope == Scope(["READ", odd]))
    }

    @Test func `an entry whose host is many combining marks is rejected`() throws {
        let odd = "h" + String(repeating: "\u{301}\u{323}", count: 40_000)
        let fixture = try TestStore()
        let report = try fixture.take(.cache(refreshTokens: [.refreshToken("r1", ["environment": .string(odd)])]))
        #expect(report.rejected.map(\.bucket) == ["RefreshToken"])
        #expect(report.changes == 0)
    }

    @Test(arguments: KeptAsideTests.Removal.allCases.filter { $0 != .remove })
    func `tokens in a bucket of the wrong type go with their account`(removal: KeptAsideTests.Removal) throws {
        let fixture = try TestStore(.cache(accessTokens: [.accessToken("a", "s1")], accounts: [.account()]))
        try fixture.take(["RefreshToken": [.refreshToken("r1")], "AppMetadata": ["another", "one"]])
        #expect(try fixture.export()["RefreshToken"] != .null)
        try removal.run(fixture.store)
        #expect(try fixture.export()["RefreshToken"] == .null)
        #expect(try fixture.export()["AppMetadata"] == ["another", "one"])
        // An entry that was altered keeps nobody from signing out; a check tells of it.
        try fixture.take(.cache(accessTokens: [.accessToken("a", "s1")], accounts: [.account()]))
        try fixture.store.withWriter { try $0.connection.execute("UPDATE foreign_entry SET entry = x'00'") }
        try removal.run(fixture.store)
        #expect(try fixture.store.accounts().isEmpty)
    }
}
