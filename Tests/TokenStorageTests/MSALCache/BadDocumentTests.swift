import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Documents that no program should have written.
@Suite(.onBothEngines)
struct BadDocumentTests {
    @Test(
        arguments: [
            "", " ", "[]", "null", "true", "1", "\"text\"", "{", "{\"AccessToken\":{}", "{\"AccessToken\":{}}}",
            "{a:1}",
            "{\"AccessToken\":{\"k\":{\"secret\":\"\\ud8\"}}}", "{\"Sessions\":{}}", "{\"AccessToken\":Nan}", "<html>",
            "SQLite format 3\u{0}",
            "{\"AccessToken\":" + String(repeating: "[", count: 10_000),
        ]
    )
    func `a document that is not a cache is refused as a whole`(document: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let before = try fixture.store.exportedText()
        let error = expectError(.failure) { try fixture.store.take(document) }
        #expect(error?.code == .notAnMSALCache)
        #expect(try fixture.store.exportedText() == before)
        #expect(try fixture.store.events().count == 1)
    }

    @Test func `text that is not UTF-8 is refused anywhere in a document`() throws {
        let fixture = try TestStore()
        for template in [#"{"AccessToken":{"#, #"{"AccessToken":{"k":{"secret":"#, #"{"Unknown":["#] {
            let bytes = Array(template.utf8) + [0x22, 0xFF, 0x22]
            expectError(.failure) { try bytes.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) } }
        }
        let whole = Array(#"{"AccessToken":{},"Unknown":{"a":""#.utf8) + [0xC0, 0xAF] + Array(#""}}"#.utf8)
        expectError(.failure) { try whole.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) } }
        #expect(try fixture.export() == [:])
    }

    @Test(arguments: [[0xFF, 0xFE], [0xFE, 0xFF], []] as [[UInt8]])
    func `a document in UTF-16 is refused, and the reason says so`(mark: [UInt8]) throws {
        let fixture = try TestStore()
        let document = JSONValue.standardCache(.accessToken("a", "s1")).serialized
        let bytes = mark + document.utf8.flatMap { byte -> [UInt8] in mark.first == 0xFE ? [0, byte] : [byte, 0] }
        let error = expectError(.failure) {
            try bytes.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) }
        }
        #expect(error?.problem == "the document is in UTF-16, and a cache is in UTF-8")
    }

    @Test(arguments: [[0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF], [0x7B, 0, 0, 0], [0, 0, 0, 0x7B]] as [[UInt8]])
    func `a document in UTF-32 is not said to be in UTF-16`(start: [UInt8]) throws {
        let fixture = try TestStore()
        let error = expectError(.failure) {
            try start.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) }
        }
        #expect(error?.problem == "the document is in UTF-32, and a cache is in UTF-8")
    }

    @Test(
        arguments: [
            ("\u{1F}", [0x8B, 8], "the document is compressed; unpack it, and import the result"),
            ("PK\u{3}\u{4}", [], "the document is a ZIP archive; unpack it, and import the result"),
            (
                "SQLite format 3\u{0}", [],
                "the document is an SQLite file; export the cache that is in it, and import the result"
            ),
            (
                #" [{"tokenType":"Bearer"}]"#, [],
                "the document is a JSON list, and an MSAL cache is an object; "
                    + "if it is a cache of ADAL or of an early MSAL.NET, sign in instead, as it cannot be imported"
            ),
            (#"eyJBY2Nlc3NUb2tlbiI6e319"#, [], "the document is in Base64; decode it, and import the result"),
            (
                #"{"u1.t1-login.windows.net-accesstoken-c1-t1-read":{"credentialType":"AccessToken"}}"#, [],
                "the document has no bucket of an MSAL cache, such as AccessToken, but the entries that MSAL.js keeps "
                    + "in a browser or in memory; sign in instead, or import what MSAL for Node has serialized"
            ),
            (
                #"{"c1_t1_AppTokenCache":{"AccessToken":{}}}"#, [],
                "the document has no bucket of an MSAL cache, such as AccessToken, but whole caches, each under a "
                    + "name; import each of them by itself"
            ),
        ] as [(String, [UInt8], String)]
    )
    func `a document of another format is called what it is`(text: String, rest: [UInt8], reason: String) throws {
        let fixture = try TestStore()
        let bytes = Array(text.utf8) + rest
        let error = expectError(.failure) {
            try bytes.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) }
        }
        #expect(error?.description == reason)
    }

    @Test func `a document that Windows has encrypted is refused, and the reason says so`() throws {
        let fixture = try TestStore()
        func problem(_ bytes: [UInt8]) -> String? {
            expectError(.failure) { try bytes.withUnsafeBytes { _ = try fixture.store.importMSALCache($0) } }?.problem
        }
        let start: [UInt8] = [0x01, 0x00, 0x00, 0x00, 0xD0, 0x8C, 0x9D, 0xDF]
        #expect(problem(start + [0x01, 0x15]) == "Windows has encrypted the document for its user")
        #expect(problem([0x01, 0x00])?.contains("UTF-16") == false)
    }

    @Test(arguments: ["{}", "\u{FEFF}{}", " {\n} ", "{\"AccessToken\":{}}", "{\"AccessToken\":null}"])
    func `an empty cache is one, and changes nothing`(document: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let report = try fixture.store.take(document)
        #expect(report == ImportReport())
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test(
        arguments: ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"],
        [[], "text", 1, true] as [JSONValue]
    )
    func `a bucket of the wrong type is named and kept, and the others go in`(bucket: String, value: JSONValue) throws {
        let fixture = try TestStore()
        let report = try fixture.take(JSONValue.cache(accounts: [.account()]).with([bucket: value]))
        #expect(report.rejected.map(\.bucket) == [bucket])
        #expect(report.rejected.map(\.key) == [nil])
        #expect(report.rejected.allSatisfy { $0.reason.contains("not an object") })
        #expect(try fixture.export()[bucket] == value)
        #expect(try fixture.store.accounts().count == (bucket == "Account" ? 0 : 1))
    }

    @Test(
        arguments: [
            ("AccessToken", .accessToken("a", "s1").with([:], without: "secret")),
            ("AccessToken", .accessToken("", "s1")),
            ("AccessToken", .accessToken("a", "s1", ["secret": 7])),
            ("AccessToken", .accessToken("a", "s1").with([:], without: "expires_on")),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": nil])),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": "soon"])),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": ""])),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": .number("1e400")])),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": "9223372036854775807"])),
            ("AccessToken", .accessToken("a", "s1", ["expires_on": "1790003600000"])),
            ("AccessToken", .accessToken("a", "s1").with([:], without: "target")),
            ("AccessToken", .accessToken("a", "s1").with([:], without: "environment")),
            ("AccessToken", .accessToken("a", "s1").with([:], without: "client_id")),
            ("AccessToken", .accessToken("a\u{1B}[2Jb", "s1")), ("AccessToken", .accessToken("a\u{2028}b", "s1")),
            ("AccessToken", .accessToken("a", "s1", ["token_type": "Bearer\r\nX: 1"])),
            ("AccessToken", .accessToken("a", "s1", ["token_type": 1])),
            ("AccessToken", .accessToken("a", "s1", ["home_account_id": "a\u{1F}b"])),
            ("AccessToken", .accessToken("a", "s1", ["home_account_id": 7])),
            ("AccessToken", .accessToken("a", "s1", ["realm": 123])), ("IdToken", .idToken().with(["realm": []])),
            ("Account", .account(["realm": true])),
            ("RefreshToken", .refreshToken("r").with(["home_account_id": "u\u{0}"])),
            ("RefreshToken", .refreshToken("r\n")), ("IdToken", .idToken().with(["secret": "a.\u{202E}.b"])),
            ("AccessToken", "text"), ("AccessToken", []), ("AccessToken", nil),
            ("RefreshToken", .refreshToken("r").with([:], without: "secret")),
            ("RefreshToken", .refreshToken("r").with([:], without: "client_id")),
            ("RefreshToken", .refreshToken("<tombstone>")),
            ("IdToken", .idToken().with([:], without: "secret")),
            ("IdToken", .idToken().with([:], without: "environment")),
            ("Account", .account().with([:], without: "home_account_id")),
            ("Account", .account().with([:], without: "environment")),
            ("AppMetadata", .appMetadata().with([:], without: "client_id")),
        ] as [(String, JSONValue)]
    )
    func `an invalid row is kept in quarantine and exported`(bucket: String, row: JSONValue) throws {
        let fixture = try TestStore()
        let document = JSONValue.cache().with([bucket: ["odd key": row]])
        let report = try fixture.take(document.with(["Other": ["k": 1]]))
        #expect(report.rejected.map(\.bucket) == [bucket])
        #expect(report.rejected.map(\.key) == ["odd key"])
        #expect(try fixture.store.status().quarantined == 1)
        #expect(try fixture.export() == document.with(["Other": ["k": 1]]))
        #expect(try fixture.take(document).unchanged == 0)
        #expect(try fixture.store.status().quarantined == 1)
    }

    @Test(arguments: ["username", "secret", "x\u{0}y"])
    func `an entry with a NUL in a text is kept aside, and the others are taken`(member: String) throws {
        let fixture = try TestStore()
        let bad = JSONValue.refreshToken("r9", ["home_account_id": "u9.t1"]).with([member: "a\u{0}b"])
        let report = try fixture.take(["RefreshToken": ["odd key": bad, "good key": .refreshToken("r1")]])
        #expect(report.rejected.map(\.key) == ["odd key"])
        #expect(report.rejected.allSatisfy { $0.reason == "a text in it has a NUL character" })
        #expect(report.refreshTokens == 1)
        #expect(try fixture.export()["RefreshToken"]["odd key"] == bad)
        #expect(
            try fixture.take(["RefreshToken": [:], "Private": ["a\u{0}b": "c\u{0}d", "e": #"\\u0000"#]]).rejected
                .isEmpty
        )
        #expect(try fixture.export()["Private"]["a\u{0}b"] == "c\u{0}d")
    }

    @Test func `a backslash before what looks like a NUL is none`() throws {
        let report = try TestStore().take(["RefreshToken": ["k": .refreshToken(#"r\u0000"#)]])
        #expect(report.refreshTokens == 1)
    }

    /// Values that Python reads and writes, and JSON does not have.
    private static let odd = [
        #""\ud800""#, #""a\udc00b""#, #""\ud83d\ud83d\ude00""#, "NaN", "Infinity", "-Infinity", #"{"\udfff":1}"#,
        String(repeating: "[", count: 300) + String(repeating: "]", count: 300),
        // As deep as can be read, in a row and without one.
        String(repeating: "[", count: 255) + String(repeating: "]", count: 255),
        String(repeating: "[", count: 256) + String(repeating: "]", count: 256),
        String(repeating: #"{"a":"#, count: 5_000) + "1" + String(repeating: "}", count: 5_000),
    ]

    @Test(arguments: odd)
    func `a row that JSON cannot say is named and kept to the letter, and the others go in`(value: String) throws {
        let fixture = try TestStore()
        let good = JSONValue.accessToken("a", "s1").serialized
        let row = #"{"home_account_id":"u1.t1","secret":"s","name":"# + value + "}"
        let text =
            #"{"AccessToken":{"good":"# + good + #","odd\ud800":"# + row + #","odd\ud801":"# + row + "},"
            + #""Other\udc00":{"k\udfff":"# + value + #","k":1},"Whole":"# + value + "}"
        let report = try fixture.store.take(text)
        #expect(report.accessTokens == 1)
        #expect(report.other == 3)
        #expect(report.rejected.map(\.key) == [#"odd\ud800"#, #"odd\ud801"#])
        #expect(try fixture.request("s1") == .hit("a"))
        let exported = try fixture.store.exportedText()
        let kept = [
            #""odd\ud800": "# + row, #""odd\ud801": "# + row, #""Other\udc00": {"#, #""k\udfff": "# + value,
            // An object is written entry by entry.
            value.hasPrefix("{") ? #""Whole": {"# : #""Whole": "# + value,
        ]
        for part in kept { #expect(exported.contains(part), "\(part.prefix(80))") }
        // The same once more, and by way of another store.
        #expect(try fixture.store.take(text).changes == 0)
        let other = try TestStore()
        try other.store.take(exported)
        #expect(try fixture.store.exportedText() == exported)
        #expect(try other.store.exportedText() == exported)
        try fixture.store.removeAccount(Fixture.account, client: Fixture.client)
        #expect(try !fixture.store.exportedText().contains(#""secret":"s""#))
    }

    @Test(arguments: ["1790003600.9", .number("1790003600.9"), .number("1.7900036e9"), 1_790_003_600] as [JSONValue])
    func `a time may be a number or a fraction`(time: JSONValue) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", ["expires_on": time])))
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.rows("AccessToken")[0]["expires_on"] == "1790003600")
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1", "0", "99999999999999999999"])
    func `times at the ends of the calendar break nothing`(time: String) throws {
        let names = ["cached_at", "expires_on", "extended_expires_on", "refresh_on"]
        let fixture = try TestStore()
        for (index, name) in names.enumerated() {
            try fixture.take(.cache(accessTokens: [.accessToken("a", "s\(index)", [name: .string(time)])]))
        }
        for index in names.indices { _ = try fixture.request(Scope("s\(index)")) }
        try fixture.store.forEachAccount(withTokens: true) { summary in
            #expect(summary.accessTokens.count >= 3)
        }
    }

    @Test(arguments: ["expires_in", "expires_on", "ext_expires_in", "refresh_in"], [Int64.min, -1, Int64.max])
    func `a response with an absurd lifetime is stored like any other`(name: String, value: Int64) throws {
        let fixture = try TestStore()
        let response = try TokenResponse.signIn([name: .number(String(value)), "scope": "s1"])
        try fixture.signIn(response)
        #expect(try fixture.rows("AccessToken").count == 1)
    }

    @Test func `of a field that is repeated the last comes back out`() throws {
        let fixture = try TestStore()
        let row = JSONValue.accessToken("a", "s1").with([:], without: "cached_at").object?.members ?? []
        let repeated: [(name: String, value: JSONValue)] = [("cached_at", "0895000000"), ("cached_at", "soon")]
        try fixture.take(["AccessToken": ["k": .object(.init(row + repeated))]])
        #expect(try fixture.rows("AccessToken").map { $0["cached_at"] } == ["soon"])
        #expect(try fixture.rows("AccessToken")[0].object?.members.count == row.count + 1)
    }

    @Test func `an import of 64 MB keeps what it does not know`() throws {
        #if DEBUG
        let megabytes = 4  // What takes half a second in a release build takes half a minute here.
        #else
        let megabytes = 64
        #endif
        let fixture = try TestStore()
        let blob = String(repeating: "0123456789abcdef", count: megabytes << 16)
        let report = try fixture.store.take(#"{"AccessToken":{},"Blob":{"k":""# + blob + #""}}"#)
        #expect(report.other == 1)
        #expect(try fixture.store.status().size > megabytes << 20)
    }

    @Test(arguments: ["Ünï", "a b", "quote\"back\\slash\n\u{1}", "\u{1F600}", String(repeating: "k", count: 70_000)])
    func `keys and values may hold any text`(text: String) throws {
        let fixture = try TestStore()
        let row = JSONValue.accessToken("a", "s1", ["x": .string(text), text: 1, "client_id": .string(text)])
        try fixture.take(["AccessToken": [text: row], text: [text: .string(text)]])
        #expect(try fixture.rows("AccessToken") == [row])
        #expect(try fixture.export()[text] == [text: .string(text)])
    }
}
