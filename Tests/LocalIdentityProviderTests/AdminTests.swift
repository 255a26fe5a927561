import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct AdminTests {
    private static let key = ["x-admin-key": "test-key"]

    private func admin(_ site: Site, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> Answer
    {
        try await site.send(
            method,
            "\(site.provider.baseURL)/admin/\(path)",
            headers: Self.key,
            body: body.map { Array($0.serialized.utf8) }
        )
    }

    @Test func `test control needs the key`() async throws {
        try await Site.open { (site: Site) async throws in
            for headers in [[:], ["x-admin-key": "wrong"]] {
                #expect(try await site.get(site.provider.baseURL + "/admin/outbox", headers: headers).status == 401)
            }
        }
    }

    @Test func `test control is off without a key`() async throws {
        try await LocalIdentityProvider.running(.forTests) { provider in
            let answer = try await Site(provider: provider).get(provider.baseURL + "/admin/outbox", headers: Self.key)
            #expect(answer.status == 404)
        }
    }

    @Test func `an empty key opens nothing`() async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.adminKey = ""
        try await LocalIdentityProvider.running(configuration) { provider in
            for headers in [[:], ["x-admin-key": ""]] {
                let answer = try await Site.get(provider.baseURL + "/admin/outbox", headers: headers)
                #expect(answer.status == 404)
            }
        }
    }

    @Test func `the outbox holds the code and no answer does`() async throws {
        try await Site.open { site in
            let challenged = try await site.challenged("otp-app", Site.bo)
            let message = try await JSONValue(parsing: admin(site, "GET", "outbox?to=bo@example.org").body).array?.last
            let code = message?["code"].text ?? ""
            #expect(code.wholeMatch(of: /[0-9]{8}/) != nil)
            #expect(!challenged.text.contains(code))
        }
    }

    @Test func `the clock moves for everything`() async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await admin(site, "GET", "clock")["now"] == 1_790_000_000)
            #expect(try await admin(site, "POST", "clock", ["advance": 61])["now"] == 1_790_000_061)
            #expect(try await site.signInWithPassword().claims(of: "id_token")["iat"] == 1_790_000_061)
            #expect(try await admin(site, "POST", "clock", ["now": 1_800_000_000])["now"] == 1_800_000_000)
            #expect(try await admin(site, "POST", "clock", [:]).status == 400)
        }
    }

    @Test func `faults are added and removed over HTTP`() async throws {
        try await Site.open { site in
            let fault: JSONValue = ["route": "token", "status": 429, "retryAfter": "3", "times": 1]
            #expect(try await admin(site, "POST", "faults", fault).status == 200)
            #expect(try await site.refresh("x", client: "pwd-app").header("retry-after") == "3")
            #expect(try await site.refresh("x", client: "pwd-app").status == 400)
            #expect(try await admin(site, "POST", "faults", ["route": "nowhere"]).status == 400)
            #expect(try await admin(site, "POST", "faults", ["route": 1]).status == 400)
            _ = try await admin(site, "POST", "faults", ["route": "token", "hangs": true])
            #expect(try await admin(site, "DELETE", "faults").status == 200)
            #expect(try await site.refresh("x", client: "pwd-app").status == 400)
        }
    }

    /// Numbers that a person or a program may write by mistake.
    private static let numbers = [Int.min, -1, 0, 1, Int.max]

    @Test(arguments: [
        ("faults", "status", [99, 100, 199, 600, 1000] + numbers), ("faults", "times", [Int.min, -1, 0]),
        ("faults", "after", [Int.min, -1]), ("faults", "delayMilliseconds", [Int.min, -1, 86_400_001, Int.max]),
        ("clock", "advance", [Int.min, Int.max]), ("clock", "now", [Int.min, -1, Int.max]),
    ])
    func `a number that cannot be is refused by name`(path: String, member: String, numbers: [Int]) async throws {
        try await Site.open { (site: Site) async throws in
            for number in numbers {
                let body: JSONValue = ["route": "metadata", member: .number("\(number)")]
                let answer = try await admin(site, "POST", path, body)
                #expect(answer.status == 400, "\(member) \(number)")
                #expect(answer.text.contains("\(member) parameter"), "\(answer.text)")
            }
            let metadata = site.tenant + "/v2.0/.well-known/openid-configuration"
            #expect(try await site.get(metadata).status == 200)
        }
    }

    @Test(arguments: [
        ("faults", "status", [200, 599]), ("faults", "times", [1, Int.max]), ("faults", "after", [0, Int.max]),
        ("faults", "delayMilliseconds", [0]), ("clock", "advance", [-1, 0]), ("clock", "now", [0, 253_402_300_799]),
    ])
    func `the provider answers after any number that it takes`(path: String, member: String, numbers: [Int])
        async throws
    {
        try await Site.open { (site: Site) async throws in
            let metadata = site.tenant + "/v2.0/.well-known/openid-configuration"
            for number in numbers {
                let body: JSONValue = ["route": "metadata", member: .number("\(number)")]
                #expect(try await admin(site, "POST", path, body).status == 200, "\(member) \(number)")
                #expect(try await site.get(metadata).status == (member == "status" ? number : 200))
                _ = try await admin(site, "DELETE", "faults")
            }
            #expect(try await site.get(metadata).status == 200)
        }
    }

    @Test func `the audit log counts requests and holds no secret`() async throws {
        try await Site.open { site in
            let tokens = try await site.signInWithCode()
            _ = try await site.refresh(tokens.text("refresh_token"), client: "otp-app")
            let audit = try await admin(site, "GET", "audit")
            #expect(audit["counts"]["token"] == 2)
            #expect(try audit.text("summary").contains("requests to token: 2"))
            let secrets = try [
                site.code(to: Site.bo), tokens.text("refresh_token"), tokens.text("access_token"),
                tokens.text("id_token"), Site.bo,
            ]
            for secret in secrets { #expect(!audit.text.contains(secret)) }
            #expect(try await admin(site, "DELETE", "audit").status == 200)
            #expect(site.provider.audit.counts.isEmpty)
        }
    }

    @Test func `keys rotate over HTTP`() async throws {
        try await Site.open { site in
            let before = try await JWTCheck(site).keys().count
            #expect(try await admin(site, "POST", "keys", ["tenant": "fabrikvine"]).status == 200)
            #expect(try await JWTCheck(site).keys().count == before + 1)
        }
    }
}
