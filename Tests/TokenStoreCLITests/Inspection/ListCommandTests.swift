import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ListCommandTests {
    @Test func `an account is described in full`() throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        mara.lifetimes = [3600, -60, -7000]
        try scratch.fill(mara)
        let document = try scratch.run("list", "--json", "--tokens").json
        #expect(document["schemaVersion"] as? Int == 1)
        let account = try #require((document["accounts"] as? [[String: Any]])?.first)
        #expect(account["homeAccountId"] as? String == mara.homeAccountID)
        #expect(account["localAccountId"] as? String == mara.uid)
        #expect(account["username"] as? String == mara.username)
        #expect(account["name"] is NSNull)
        #expect(account["environment"] as? String == mara.environment)
        #expect(account["issuer"] as? String == mara.issuer)
        #expect(account["tenantId"] as? String == mara.tenant)
        #expect(account["policy"] as? String == "b2c_1_signin")
        #expect(account["clientIds"] as? [String] == [mara.client])
        #expect(account["signInState"] as? String == "signedIn")
        #expect(account["hasRefreshToken"] as? Bool == true)
        #expect(account["accessTokenCounts"] as? [String: Int] == ["valid": 1, "aging": 0, "expired": 2])
        let epoch = try #require(account["nextExpiryEpoch"] as? Int)
        #expect(account["nextExpiry"] as? String == Self.text(epoch))
        let used = try #require(account["lastUsedEpoch"] as? Int)
        #expect(account["lastUsed"] as? String == Self.text(used))
        let token = try #require((account["accessTokens"] as? [[String: Any]])?.first)
        #expect(
            Set(token.keys) == [
                "clientId", "scopes", "tokenType", "state", "cachedAt", "cachedAtEpoch", "expiresAt", "expiresAtEpoch",
                "refreshAt", "refreshAtEpoch",
            ]
        )
        #expect(token["refreshAt"] is NSNull)
        #expect(token["refreshAtEpoch"] is NSNull)
        let profile = try #require((account["tenantProfiles"] as? [[String: Any]])?.first)
        #expect(profile["tenantId"] as? String == mara.tenant)
        #expect(profile["localAccountId"] as? String == mara.uid)
        #expect(profile["isHome"] as? Bool == true)
    }

    @Test func `a missing value of an account is null, not empty text`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.nameless)
        let document = try scratch.run("list", "--json").json
        let account = try #require((document["accounts"] as? [[String: Any]])?.first)
        for name in ["username", "name", "tenantId", "policy"] { #expect(account[name] is NSNull, "\(name)") }
        let profile = try #require((account["tenantProfiles"] as? [[String: Any]])?.first)
        #expect(profile["tenantId"] is NSNull)
        #expect(profile["localAccountId"] as? String == CachedUser.nameless.uid)
    }

    @Test func `access tokens are listed only with their option`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let account = try #require((try scratch.run("list", "--json").json["accounts"] as? [[String: Any]])?.first)
        #expect(account["accessTokens"] == nil)
    }

    @Test func `in a pipe the columns are aligned, whole and without colour`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.run("list")
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(!outcome.output.contains("…"))
        let words = outcome.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(
            words[0] == [
                "USERNAME", "POLICY", "EXPIRES", "TOKENS", "RENEWS", "USED", "ISSUER", "TENANT", "CLIENTS", "DEFAULT",
            ]
        )
        #expect(Array(words[1][..<6]) == [CachedUser.ivo.username, "b2c_1_susi", "-", "1", "expired", "yes"])
        #expect(words[1].suffix(4) == [CachedUser.ivo.issuer, CachedUser.ivo.tenant, CachedUser.ivo.client, "-"])
        #expect(Set(outcome.lines.map { $0.firstRange(of: "b2c_1")?.lowerBound.utf16Offset(in: $0) }).count == 2)
    }

    @Test func `the tokens of an account stand beneath it`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let lines = try scratch.run("list", "--tokens").lines
        #expect(lines.count == 4)
        #expect(lines[1].split(separator: " ") == ["CLIENT", "SCOPES", "TYPE", "ENDS", "STATE"])
        #expect(lines[3].hasPrefix("    \(CachedUser.mara.client)  tasks.read tasks.write.0  Bearer  20"))
        #expect(lines[3].hasSuffix("Z  valid"))
    }

    @Test(arguments: [
        (["--policy", "B2C_1_SUSI"], ["ivo@example.org"]),
        (["--tenant", "7C2F6D1E-5a43-4b8f-9d10-0e6b1a2c3d4e"], ["ivo@example.org", "mara@example.net"]),
        (["--tenant", "elsewhere"], []),
        (["--issuer", CachedUser.mara.issuer, "--policy", "b2c_1_signin"], ["mara@example.net"]),
        (["--client-id", CachedUser.mara.client], ["ivo@example.org", "mara@example.net"]),
        (["--client-id", "another"], []),
        (["--where", "department=finance"], ["mara@example.net"]),
        (["--where", "department"], ["ivo@example.org", "mara@example.net"]),
        (["--where", "department~=eg"], ["ivo@example.org"]),
        (["--where", "roles=admin"], ["mara@example.net"]),
        (["--where", "plan.name=GOLD"], ["mara@example.net"]),
        (["--where", "level=7"], ["mara@example.net"]),
        (["--where", "department=\u{301}"], []),
        (["--where", "department", "--where", "roles"], ["mara@example.net"]),
        (["--expired"], ["ivo@example.org"]),
        (["--limit", "1"], ["ivo@example.org"]),
        (["--limit", "0"], []),
        (["--sort", "expires"], ["mara@example.net", "ivo@example.org"]),
        (["--account", "MARA@example.net"], ["mara@example.net"]),
        (["--account", "3f9a"], ["mara@example.net"]),
        (["--account", CachedUser.ivo.uid], ["ivo@example.org"]),
    ])
    func `filters narrow the list`(options: [String], expected: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try Command(
            arguments: ["list", "--json"] + options,
            environment: ["TOKENSTORE_PATH": scratch.store]
        ).run(in: scratch)
        #expect(outcome.status == 0)
        let accounts = try outcome.json["accounts"] as? [[String: Any]]
        #expect(accounts?.compactMap { $0["username"] as? String } == expected)
    }

    @Test func `a filter without a match leaves the headings and says so`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("list", "--policy", "b2c_1_other")
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == 1)
        #expect(outcome.error == "tokenstore: no account fits; 'tokenstore list' shows all\n")
        #expect(try scratch.run("list", "--policy", "b2c_1_other", "--quiet").error.isEmpty)
    }

    @Test func `a selector that several accounts fit lists them`() throws {
        let scratch = try ScratchDirectory()
        var twin = CachedUser.mara
        twin.policy = "b2c_1_susi"
        try scratch.fill(.mara, twin)
        let outcome = try scratch.run("list", "--account", "3f9a7b52")
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines[0] == "tokenstore: error: 2 accounts fit; name one with --policy, such as '--policy b2c_1_signin'"
        )
        #expect(outcome.error.contains(CachedUser.mara.homeAccountID))
        #expect(outcome.error.contains(twin.homeAccountID))

        let error = try scratch.run("list", "--json", "--account", "mara@example.net").errorJSON
        #expect(error["code"] as? String == "ambiguous")
        let candidates = error["candidates"] as? [[String: Any]]
        let ids = candidates?.compactMap { $0["homeAccountId"] as? String } ?? []
        #expect(Set(ids) == [CachedUser.mara.homeAccountID, twin.homeAccountID])
        #expect(try scratch.run("list", "--account", "mara@example.net", "--policy", "b2c_1_susi").status == 0)
    }

    @Test(arguments: ["nobody", "3f9"])
    func `a selector that no account fits is an error`(selector: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("list", "--account", selector)
        #expect(outcome.status == 3)
        #expect(outcome.error == "tokenstore: error: no account fits; see the accounts with 'tokenstore list'\n")
    }

    private static func text(_ epoch: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(epoch)).formatted(.iso8601)
    }
}
