import Foundation
import OAuth
import TestSupport
import Testing

struct ControlCharacterTests {
    @Test func `control characters are those of Unicode's category Cc`() {
        for value in UInt32(0)..<0x3000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = scalar.properties.generalCategory == .control
            if String(scalar).hasControlCharacters != isControl { Issue.record("U+\(String(value, radix: 16))") }
        }
        #expect(!"user@example.net\u{10FFFD}".hasControlCharacters)
    }
}

struct ScopeTests {
    @Test func `the difference of scopes with 20,000 tokens is found in one pass`() {
        let wanted = Scope((0..<20_000).map { "api://Resource/Permission.\($0)" })
        let granted = Scope(wanted.tokens.dropLast(2).reversed().map { $0.uppercased() })
        #expect(Scope(wanted.tokens + ["openid"]).missing(from: granted).tokens == Array(wanted.tokens.suffix(2)))
        #expect(wanted.missing(from: wanted).tokens.isEmpty)
    }

    @Test func `a scope is a set in any case, and its text keeps order and case`() {
        #expect(Scope("b A  a\tb") == "a B")
        #expect(Scope("b A  a b").text == "b A")
        #expect(Scope("a b").covers("B"))
        #expect(!Scope("a").covers("a b"))
        #expect(Scope("a").covers("a openid profile offline_access"))
        for (text, isEmpty, matchesNothing) in [
            ("", true, true), ("openid Profile", false, true), ("email", false, false),
        ] {
            #expect(Scope(text).isEmpty == isEmpty)
            #expect(Scope(text).matchesNothing == matchesNothing)
        }
    }

    @Test func `a scope is split at its spaces, before any character`() {
        #expect(Scope("a \u{301}b\u{2003}\u{301}c").tokens == ["a", "\u{301}b", "\u{301}c"])
        #expect(Scope("a \u{301}b").covers("a"))
        #expect("/x/\u{301}y//z".parts(separatedBy: "/") == ["x", "\u{301}y", "z"])
    }

    @Test func `Google's name of email is email for matching, and stays as it is in the text`() {
        let google = "https://www.googleapis.com/auth/userinfo.email"
        let granted = Scope("openid \(google)")
        #expect(granted.text == "openid \(google)")
        #expect(granted.covers("email"))
        #expect(Scope("email a").missing(from: granted).tokens == ["a"])
        #expect(Scope(google).missing(from: "email").tokens.isEmpty)
        #expect(Scope("email \(google)").foldedText == "email")
        #expect(!Scope("a \(google)").intersects(Scope("b \(google)")))
        #expect(!granted.covers("profile.email"))
    }

    @Test func `reserved scopes do not count as an overlap`() {
        #expect(Scope("a b").intersects("B c"))
        #expect(!Scope("a openid").intersects("b openid"))
        #expect(Scope("openid").intersects("profile"))
        #expect(!Scope("openid").intersects("a"))
        #expect(!Scope("a Email").intersects("b email openid"))
        #expect(!Scope("email").intersects("a email"))
        #expect(Scope("email openid").intersects("profile"))
        #expect(Set([Scope("a b"), Scope("B A")]).count == 1)
        #expect(!Scope("a b").intersects("A c", besides: "a d"))
        #expect(Scope("a b").intersects("a B c", besides: "a"))
        #expect(Scope("a email").intersects("a", besides: "a"))
    }
}

struct ClaimsTests {
    private func claims(_ text: String) throws -> Claims { Claims(try #require(JSONValue(parsing: text).object)) }

    @Test(arguments: [(#"{"aud":"a"}"#, ["a"]), (#"{"aud":["a","b"]}"#, ["a", "b"]), ("{}", []), (#"{"aud":1}"#, [])])
    func `an audience is text or a list`(text: String, audiences: [String]) throws {
        #expect(try claims(text).audiences == audiences)
    }

    @Test(
        arguments: [
            ("a", "1.50"), ("b.c", "[1,2]"), ("b.d.e", "true"), ("x.y", "\"whole\""), ("f.g.h", "7"), ("b.x", nil),
            ("l.m", "[1,2]"), ("l.x", nil), ("b.", nil),
            ("", nil), (".a", nil), ("a.b", nil),
        ] as [(String, String?)]
    )
    func `dots reach into objects, and a whole name wins`(path: String, value: String?) throws {
        let claims = try claims(
            #"{"a":1.50,"b":{"c":[1,2],"d":{"e":true}},"x.y":"whole","x":{"y":"part"},"f.g":{"h":7},"l":[{"m":1},{"m":2},3]}"#
        )
        #expect(claims[path: path]?.serialized == value)
    }

    @Test(
        arguments: [
            (#"{"preferred_username":"p","upn":"u","email":"e"}"#, "p"), (#"{"upn":"u","email":"e"}"#, "u"),
            (#"{"preferred_username":"","email":"e","emails":["x"]}"#, "e"),
            (#"{"emails":["","m@x"],"name":"n"}"#, "m@x"),
            (#"{"emails":"m@x"}"#, "m@x"), (#"{"name":"n"}"#, "n"), ("{}", nil), (#"{"upn":7}"#, nil),
        ] as [(String, String?)]
    )
    func `the display name is the first of several claims`(text: String, username: String?) throws {
        #expect(try claims(text).username == username)
    }

    @Test(
        arguments: [
            (#"{"tfp":"B2C_1_A","acr":"b2c_1_b"}"#, "B2C_1_A"), (#"{"acr":"b2c_1_b"}"#, "b2c_1_b"),
            (#"{"acr":"urn:mace"}"#, nil), (#"{"tfp":""}"#, nil),
        ] as [(String, String?)]
    )
    func `a user flow is named by tfp or by acr`(text: String, flow: String?) throws {
        #expect(try claims(text).userFlow == flow)
    }

    @Test func `an ID token is decoded without loss`() throws {
        let payload: JSONValue = [
            "exp": .number("1790003590.25"), "aud": ["a"], "n": .number("1.0"), "o": ["p": [nil]],
        ]
        let token = try IDToken(decoding: Secret(Fixture.idToken(payload)))
        #expect(JSONValue.object(token.claims.payload).serialized == payload.serialized)
    }

    @Test(arguments: ["", "a.b", "a.b.c.d", "a.!!.c", "a.bm90anNvbg.c", "a.W10.c", "a.bnVsbA.c", "..", "a.e30=e30.c"])
    func `a malformed ID token is refused by an error that does not quote it`(text: String) {
        let error = #expect(throws: IDTokenError.self) { try IDToken(decoding: Secret(text)) }
        #expect(error.map { !$0.description.contains("bm90") } == true)
    }

    @Test func `client_info names user and tenant`() {
        let info = ClientInfo(decoding: Fixture.clientInfo("U1-b2c_1_x", "T1"))
        #expect(info?.homeAccountID == "U1-b2c_1_x.T1")
        #expect(ClientInfo(decoding: Fixture.clientInfo("u1", "")) == nil)
    }

    private static let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"

    @Test(
        arguments: [
            ("u1", nil), ("u1.", ""), ("u.v.T1", "T1"), ("u1.\(tenant)", tenant),
            ("u1.\(tenant)-B2C_1_SignIn", tenant), ("u1-b2c_1_x.\(tenant)-b2c_1a_x", tenant),
            ("u1.\(tenant)-other", "\(tenant)-other"), ("u1.\(tenant)b2c_1_x", "\(tenant)b2c_1_x"),
            ("u1.t1-B2C_1_SignIn", "t1-B2C_1_SignIn"),
        ] as [(String, String?)]
    )
    func `the tenant of an id is behind its last dot, and before a user flow`(id: String, tenant: String?) {
        #expect(ClientInfo.tenant(of: id) == tenant)
        #expect(ClientInfo.parts(of: id)?.utid == tenant)
    }
}

struct TokenResponseTests {
    @Test(arguments: [
        #"{"uid":"u\u001f","utid":"t"}"#, #"{"uid":"u","utid":"t\n"}"#, #"{"uid":"\u007f","utid":"t"}"#,
        #"{"uid":"u","utid":"\u0085"}"#,
    ])
    func `client_info with a control character counts as absent`(text: String) {
        #expect(ClientInfo(decoding: Base64URL.encode(text.utf8)) == nil)
    }

    @Test func `every field of a response is read, in the types that issuers use`() throws {
        let response = try TokenResponse([
            "access_token": "a", "token_type": "bearer", "expires_in": "3599", "ext_expires_in": 7200,
            "refresh_in": "1800",
            "expires_on": .number("1790003600.5"), "refresh_token": "r", "scope": "a b", "id_token": "i",
            "client_info": "c",
            "foci": "1",
        ])
        #expect(response.accessToken == Secret("a"))
        #expect(response.expiresIn == .seconds(3599))
        #expect(response.extendedExpiresIn == .seconds(7200))
        #expect(response.refreshIn == .seconds(1800))
        #expect(response.expiresOn == Fixture.date(3_600))
        #expect(response.refreshToken == Secret("r"))
        #expect(response.idToken == Secret("i"))
        #expect(response.scope == "a b")
        #expect(response.clientInfo == "c")
        #expect(response.familyID == "1")
    }

    @Test(arguments: [(Duration.milliseconds(1), Int64(1)), (.seconds(2), 2), (.milliseconds(-500), 0), (.zero, 0)])
    func `a part of a second is rounded up to a whole one`(time: Duration, seconds: Int64) {
        #expect(time.secondsRoundedUp == seconds)
    }

    @Test(arguments: [(1.9, Int64(1)), (-0.1, -1), (1e300, 1 << 53), (-1e300, -1 << 53)])
    func `a moment beyond any calendar is the last that counts`(moment: TimeInterval, seconds: Int64) {
        #expect(Date(timeIntervalSince1970: moment).unixSeconds == seconds)
    }

    @Test(
        arguments: [
            (["openid", "read"], "openid read"), (["openid read", 7, "write"], "openid read write"),
            ("a b", "a b"), ("read", "read"), ("openid,read,write", "openid read write"), ("a,b c", "a,b c"),
            ("a,,b", "a,,b"), (",", ","), ("a,é", "a,é"), (["a,b"], "a,b"), (["a", "b\u{1B}"], "a"),
            ("", ""), ("  ", ""), ([], ""), ([7], nil), (7, nil), (nil, nil),
        ] as [(JSONValue, String?)]
    )
    func `a granted scope is text with spaces or commas, or a list, and an empty one grants nothing`(
        value: JSONValue,
        scope: String?
    ) throws {
        #expect(try TokenResponse(["scope": value]).scope?.text == scope)
    }

    @Test func `empty and null fields are absent`() throws {
        let response = try TokenResponse(["access_token": "", "refresh_token": nil, "foci": "", "id_token": 7])
        #expect(response == TokenResponse())
    }

    @Test(
        arguments: [
            (["expires_in": 5, "expires_on": 1_790_000_900], 5), (["expires_on": 1_790_000_900], 900), ([:], 600),
            (["expires_in": -5], 0), (["expires_on": 5], 0), (["expires_in": 0], 0),
        ] as [(JSONValue, Int64)]
    )
    func `a relative lifetime goes before an absolute one`(body: JSONValue, lifetime: Int64) throws {
        #expect(try TokenResponse(body).lifetime(at: Fixture.now) == lifetime)
    }

    @Test(
        arguments: [
            (["refresh_in": 1_800], 1_800), (["refresh_in": 0], nil), (["refresh_in": -5], nil),
            (["refresh_in": "0"], nil), (["refresh_in": 0, "refresh_expires_in": 600], 300),
            (["refresh_in": 60, "refresh_expires_in": 600], 60), (["refresh_expires_in": 7_200], nil),
        ] as [(JSONValue, Int64?)]
    )
    func `a token is worth a refresh after refresh_in, unless that is none`(body: JSONValue, delay: Int64?) throws {
        var response = try TokenResponse(body)
        response.expiresIn = .seconds(3_600)
        #expect(response.refreshDelay(at: Fixture.now) == delay)
    }
}

struct HalfCharacterTests {
    private func claims(_ json: String) throws -> Claims {
        let parts = [#"{"alg":"RS256"}"#, json, "signature"].map { Base64URL.encode(Array($0.utf8)) }
        return try IDToken(decoding: Secret(parts.joined(separator: "."))).claims
    }

    @Test func `a name that was cut in the middle of a character is read`() throws {
        let claims = try claims(#"{"iss":"https://i.example","sub":"s","name":"Mara \ud83d"}"#)
        #expect(claims.name == "Mara \u{FFFD}" && claims.subject == "s")
    }

    @Test(arguments: ["iss", "sub", "aud", "oid", "tid", "nonce", "tfp"])
    func `whom a token is about is read to the letter`(name: String) {
        #expect(throws: IDTokenError.notAnObject) { try claims(#"{"\#(name)":"a\ud83d"}"#) }
        #expect(throws: IDTokenError.notAnObject) { try claims(#"{"\#(name)":["a\ud83d"]}"#) }
    }
}
