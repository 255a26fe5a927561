import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ClaimsCommandTests {
    @Test func `the claims of the only account are shown with readable times`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("claims")
        #expect(outcome.status == 0)
        #expect(outcome.lines[0] == "tenant \(CachedUser.mara.tenant), client \(CachedUser.mara.client)")
        #expect(outcome.lines.contains { $0.contains(/^  department +finance$/) })
        #expect(outcome.lines.contains { $0.contains(/^  iat +2026-09-21T14:13:20Z$/) })
        #expect(outcome.lines.contains { $0.contains(/^  roles +\["reader","admin"\]$/) })
    }

    /// The value alone.
    private func expectValue(
        _ expected: String,
        of arguments: [String],
        in scratch: ScratchDirectory,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try Command(
            arguments: ["claims"] + arguments,
            environment: ["TOKENSTORE_PATH": scratch.store]
        ).run(in: scratch)
        #expect(outcome.status == 0, sourceLocation: sourceLocation)
        #expect(outcome.output == expected + "\n", sourceLocation: sourceLocation)
        #expect(outcome.error.isEmpty, sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        (["mara@example.net", "department"], "finance"), (["3F9A", "roles"], "[\"reader\",\"admin\"]"),
        (["mara@example.net", "plan.name"], "gold"), (["mara@example.net", "level"], "7"),
        (["--account", "mara@example.net", "department"], "finance"),
        (["--policy", "b2c_1_susi", "department"], "legal"),
        (["--where", "department=legal", "preferred_username"], "ivo@example.org"),
    ])
    func `one name prints its value alone`(arguments: [String], expected: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        try expectValue(expected, of: arguments, in: scratch)
    }

    @Test(arguments: [
        (["mara@example.net", "name", "--policy", "B2C_1_SignIn"], "Mara Quill"),
        (["mara@example.net", "tfp", "--policy", "B2C_1_EditProfile"], "B2C_1_EditProfile"),
        (["9E8D7C6B", "--tenant", "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e", "department"], "engineering"),
        (["--policy", "B2C_1_EditProfile", "address.country"], "PT"),
        (["--where", "department=engineering", "address.country"], "PT"),
    ])
    func `beside a filter the first word is an account if it fits one, else a claim`(
        arguments: [String],
        expected: String
    ) throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        try expectValue(expected, of: arguments, in: scratch)
    }

    @Test func `an account that a filter narrows is shown with all of its claims`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        let outcome = try scratch.run("claims", "mara@example.net", "--policy", "B2C_1_SignIn", "--json")
        #expect((try outcome.json["account"] as? [String: Any])?["policy"] as? String == "b2c_1_signin")
        let profile = try #require((try outcome.json["profiles"] as? [[String: Any]])?.first)
        #expect((profile["claims"] as? [String: Any])?["tfp"] as? String == "B2C_1_SignIn")
    }

    @Test func `an ambiguous account beside a filter is an error, not a claim`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        let outcome = try scratch.run("claims", "mara@example.net", "--where", "department=finance", "--json")
        #expect(outcome.status == 3)
        #expect(try outcome.errorJSON["code"] as? String == "ambiguous")
        #expect((try outcome.errorJSON["candidates"] as? [Any])?.count == 2)
    }

    @Test func `several names print names and values`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("claims", "mara@example.net", "department", "plan.name")
        #expect(outcome.lines.dropFirst() == ["  department  finance", "  plan.name   gold"])
    }

    @Test(arguments: [["nothing"], ["department", "nothing"]])
    func `a claim that is not there is an error`(names: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try Command(
            arguments: ["claims", "mara@example.net"] + names,
            environment: ["TOKENSTORE_PATH": scratch.store]
        ).run(in: scratch)
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
        let hint = "see all with 'tokenstore claims --account \(CachedUser.mara.homeAccountID)'"
        #expect(outcome.error == "tokenstore: error: the account has no claim 'nothing'; \(hint)\n")
    }

    @Test func `without a selector several accounts are an ambiguity that lists them`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("claims")
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("mara@example.net"))
        #expect(outcome.error.contains("ivo@example.org"))
    }

    @Test func `the document holds the payload as issued`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let document = try scratch.run("claims", "--json").json
        #expect(document["schemaVersion"] as? Int == 1)
        #expect((document["account"] as? [String: Any])?["homeAccountId"] as? String == CachedUser.mara.homeAccountID)
        let profile = try #require((document["profiles"] as? [[String: Any]])?.first)
        #expect(profile["tenantId"] as? String == CachedUser.mara.tenant)
        #expect(profile["clientId"] as? String == CachedUser.mara.client)
        let claims = try #require(profile["claims"] as? [String: Any])
        #expect(claims["exp"] as? Int == 1_790_003_600)
        #expect(claims["roles"] as? [String] == ["reader", "admin"])
        #expect((claims["plan"] as? [String: String]) == ["name": "gold"])
    }

    @Test func `an empty tenant or username is null in the document`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.nameless)
        let document = try scratch.run("claims", "--json").json
        #expect((document["account"] as? [String: Any])?["username"] is NSNull)
        #expect((document["profiles"] as? [[String: Any]])?.first?["tenantId"] is NSNull)
    }

    @Test func `candidates without a username have null in the document`() throws {
        let scratch = try ScratchDirectory()
        var other = CachedUser.nameless
        other.uid = "other"
        try scratch.fill(.nameless, other)
        let candidates = try scratch.run("claims", "--json").errorJSON["candidates"] as? [[String: Any]]
        #expect(candidates?.map { $0["username"] is NSNull } == [true, true])
    }

    @Test(arguments: ["eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", "garbage", "e30.W10.c2ln"])
    func `an ID token that cannot be read is said to be one`(idToken: String) throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara]).replacing(CachedUser.mara.idToken, with: idToken)
        #expect(try scratch.run("import", input: cache).status == 0)
        let token = "the ID token of mara@example.net"
        let problem = "\(token) is encrypted or not a JSON Web Token, so its claims cannot be read"
        let all = try scratch.run("claims")
        #expect(all.status == 0)
        #expect(all.output.isEmpty)
        #expect(all.error == "tokenstore: \(problem)\n")
        let named = try scratch.run("claims", "mara@example.net", "department")
        #expect(named.status == 3)
        #expect(named.output.isEmpty)
        #expect(named.error.hasPrefix("tokenstore: error: \(problem); have the client registered"), "\(named.error)")
    }

    @Test func `an ID token that cannot be read is told beside those of other tenants`() throws {
        let scratch = try ScratchDirectory()
        var home = CachedUser.mara
        (home.policy, home.environment) = (nil, "login.microsoftonline.com")
        try scratch.fill(home)
        let guest = "b0000000-0000-4000-8000-000000000001"
        let cache = try CachedUser.cache([home]).replacing(home.idToken, with: "garbage")
        let visited = cache.replacing("\"realm\":\"\(home.tenant)\"", with: "\"realm\":\"\(guest)\"")
        #expect(try scratch.run("import", input: visited).status == 0)
        let outcome = try scratch.run("claims")
        #expect(outcome.output.contains("tenant \(home.tenant), "))
        let token = "the ID token of mara@example.net from tenant \(guest)"
        #expect(outcome.error.contains("\(token) is encrypted or not a JSON Web Token"), "\(outcome.error)")
        #expect(try scratch.run("claims", "--tenant", home.tenant).error.isEmpty)
    }

    @Test func `each tenant has its own heading`() throws {
        let scratch = try ScratchDirectory()
        var home = CachedUser.mara
        home.policy = nil
        home.environment = "login.microsoftonline.com"
        try scratch.fill(home)
        let cache = try CachedUser.cache([home])
        let guest = "b0000000-0000-4000-8000-000000000001"
        let visited = cache.replacing("\"realm\":\"\(home.tenant)\"", with: "\"realm\":\"\(guest)\"")
        #expect(try scratch.run("import", input: visited).status == 0)
        let outcome = try scratch.run("claims")
        #expect(outcome.output.contains("tenant \(home.tenant), "))
        #expect(outcome.output.contains("tenant \(guest), "))
    }

    @Test func `claims and whoami show a guest's values of the selected tenant`() throws {
        let scratch = try ScratchDirectory()
        var home = CachedUser.mara
        (home.policy, home.environment) = (nil, "login.microsoftonline.com")
        home.claims["name"] = "Mara Quill"
        try scratch.fill(home)
        let guest = "b0000000-0000-4000-8000-000000000001"
        var visitor = home
        visitor.claims["name"] = "Mara (guest)"
        let cache = try CachedUser.cache([visitor])
        let visited = cache.replacing("\"realm\":\"\(home.tenant)\"", with: "\"realm\":\"\(guest)\"")
        #expect(try scratch.run("import", input: visited).status == 0)
        for (tenant, name) in [(home.tenant, "Mara Quill"), (guest.uppercased(), "Mara (guest)")] {
            try expectValue(name, of: ["--tenant", tenant, "name"], in: scratch)
            #expect(try scratch.run("whoami", "--tenant", tenant).output == name + "\n")
            #expect(try scratch.run("claims", "--tenant", tenant).lines.count { $0.hasPrefix("tenant ") } == 1)
            let left = try scratch.run("explain", "--tenant", tenant, "--scope", "tasks.read").output
            let other = tenant == home.tenant ? guest : home.tenant
            #expect(left.contains("of tenant \(other)"))
            #expect(!left.contains("of tenant \(tenant.lowercased())"))
        }
    }
}
