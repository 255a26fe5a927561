import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ImportCommandTests {
    @Test func `a cache is imported once`() throws {
        let scratch = try ScratchDirectory()
        try scratch.write(try CachedUser.cache([.mara, .ivo]), to: "cache.json")
        let file = scratch.path("cache.json")
        let first = try scratch.run("import", file, "--json")
        #expect(first.status == 0)
        let document = try first.json
        #expect(document["schemaVersion"] as? Int == 1)
        #expect(
            document["imported"] as? [String: Int] == [
                "accounts": 2, "accessTokens": 2, "refreshTokens": 2, "idTokens": 2, "appMetadata": 0, "other": 0,
            ]
        )
        #expect(document["unchanged"] as? Int == 0)
        #expect((document["rejected"] as? [Any])?.isEmpty == true)
        let before = try scratch.run("list", "--json", "--tokens").output
        let second = try scratch.run("import", file)
        #expect(second.status == 0)
        #expect(second.output.contains("imported 0 accounts, 0 access tokens"))
        #expect(try scratch.run("list", "--json", "--tokens").output == before)
    }

    @Test(arguments: [["import"], ["import", "-"], ["import", "/dev/stdin"], ["import", "--format", "msal"]])
    func `a document comes from standard input as well`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        var command = Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store])
        command.input = Data(try CachedUser.cache([.mara]).utf8)
        #expect(try command.run(in: scratch).status == 0)
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test func `a dry run says what would be imported, by name, and changes nothing`() throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara, .ivo])
        let trial = try scratch.run("import", "--dry-run", input: cache)
        let counts = "2 accounts, 2 access tokens, 2 refresh tokens, 2 ID tokens, 0 app metadata, 0 other"
        let names = ["mara@example.net (b2c_1_signin)", "ivo@example.org (b2c_1_susi)"]
        #expect(trial.status == 0, "\(trial.error)")
        #expect(trial.lines[0].hasPrefix("would import \(counts): "))
        #expect(names.allSatisfy { trial.lines[0].contains($0) })
        #expect(try scratch.names.isEmpty)
        try scratch.fill(.mara)
        let before = try scratch.run("list", "--json", "--tokens").output
        let second = try scratch.run("import", "--dry-run", "--json", input: CachedUser.cache([.ivo])).json
        #expect(second["accountNames"] as? [String] == [names[1]])
        #expect(second["accountTotal"] as? Int == 1)
        #expect(try scratch.run("list", "--json", "--tokens").output == before)
        #expect(try scratch.run("import", "--dry-run", input: "no JSON").status == 1)
    }

    @Test func `accounts are counted, not their entries`() throws {
        let row: KeyValuePairs<String, JSONValue> = ["realm": "t2", "username": "guest@example.net"]
        let guest = JSONValue.cache(
            accessTokens: [.accessToken("a", "s1"), .accessToken("b", "s1", ["realm": "t2"])],
            accounts: [.account(), .account(row)]
        ).serialized
        let scratch = try ScratchDirectory()
        let trial = try scratch.run("import", "--dry-run", input: guest).output
        #expect(trial.hasPrefix("would import 1 account, 2 access tokens, "))
        let imported = try scratch.run("import", "--json", input: guest).json
        #expect((imported["imported"] as? [String: Int])?["accounts"] == 1)
        #expect(imported["accountTotal"] as? Int == 1)
        #expect(try scratch.run("list", "--json").json["total"] as? Int == 1)
        let again = try scratch.run("import", input: guest).output
        #expect(again.hasPrefix("imported 0 accounts, 0 access tokens") && again.contains("unchanged 4,"))
        let tokens = JSONValue.cache(accessTokens: [.accessToken("c", "s1", ["home_account_id": "u2.t1"])]).serialized
        #expect(try scratch.run("import", input: tokens).output.hasPrefix("imported 1 account, 1 access token, "))
    }

    @Test func `an unreadable row is reported, and the others are imported`() throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara])
        let damaged = cache.replacing("\"RefreshToken\":{", with: "\"RefreshToken\":{\"x\":{\"client_id\":\"c\"},")
        let outcome = try scratch.run("import", input: damaged)
        #expect(outcome.status == 0)
        #expect(outcome.error.hasPrefix("tokenstore: error: RefreshToken, x: "))
        #expect(outcome.output.contains("1 refresh token"))
        #expect(outcome.output.contains("rejected 1"))
        let other = try ScratchDirectory()
        let rejected = try other.run("import", "--json", input: damaged).json["rejected"] as? [[String: String]]
        #expect(rejected?.map { $0["bucket"] } == ["RefreshToken"])
        #expect(rejected?.first?["reason"]?.isEmpty == false)
    }

    @Test(arguments: ["", "nonsense", "[]", "null", "{\"Account\": "])
    func `a document that is not a cache changes nothing`(document: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let before = try scratch.run("export").output
        #expect(try scratch.run("import", input: document).status == 1)
        #expect(try scratch.run("export").output == before)
    }

    @Test func `a missing file, a directory and an unreadable file are named`() throws {
        let scratch = try ScratchDirectory()
        for path in [scratch.path("none.json"), scratch.path] {
            let outcome = try scratch.run("import", path)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains(path))
            #expect(outcome.error.contains("; "))
        }
        #expect(try scratch.names.isEmpty)
    }

    @Test func `an import from a terminal without a file is an error`() throws {
        let outcome = try ScratchDirectory().runOnTerminal("import")
        #expect(outcome.status == 64)
        #expect(outcome.output.contains("name a FILE"))
    }

    @Test func `the empty cache is accepted when the format is given`() throws {
        #expect(try ScratchDirectory().run("import", "--format", "msal", input: "{}").status == 0)
    }
}
