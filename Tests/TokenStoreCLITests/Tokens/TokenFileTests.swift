import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// `token --output`, and the options that choose what is printed.
@Suite(.onWaitingThreads)
struct TokenFileTests {
    private static let mara = ["token", "--account", "mara@example.net", "--scope", "tasks.read"]
    private let token = CachedUser.mara.secret("access")

    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        return scratch
    }

    @Test func `the file has the bare token and is its owner's`() throws {
        let scratch = try Self.filled()
        let file = scratch.path("token")
        let outcome = try scratch.command(Self.mara + ["--output", file])
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.isEmpty)
        #expect(try scratch.contents("token") == Data(token.utf8))
        #expect(try scratch.permissions("token") == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let json = try scratch.command(Self.mara + ["--output", file, "--json"])
        #expect(try json.json["file"] as? String == file)
        #expect(!json.output.contains(token))
        #expect(try scratch.permissions("token") == 0o600)
        #expect(try scratch.names.filter { $0.contains("token") && !$0.hasPrefix("tokenstore") } == ["token"])
    }

    @Test func `a file that is no token file stays, whatever it is`() throws {
        let scratch = try Self.filled()
        try scratch.write("-----BEGIN PRIVATE KEY-----\nabc\n", to: "id")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: scratch.path("t"))
        try FileManager.default.createDirectory(atPath: scratch.path("folder"), withIntermediateDirectories: false)
        for name in ["id", "link", "folder", "tokenstore.db", "key", "tokenstore.lock"] {
            let before = name == "folder" || name == "link" ? Data() : try scratch.contents(name)
            let outcome = try scratch.command(Self.mara + ["--output", scratch.path(name)])
            #expect(outcome.status != 0, "\(name)")
            if name != "folder", name != "link" { #expect(try scratch.contents(name) == before) }
        }
        #expect(try !scratch.names.contains("t"))
    }

    @Test(.enabled(if: Tracer.isUsable, "needs strace, and the right to trace"))
    func `a file that cannot be read stays, for it may be anything`() throws {
        let scratch = try Self.filled()
        try scratch.write("-----BEGIN PRIVATE KEY-----\nabc\n", to: "id")
        let arguments = Self.mara + ["--output", scratch.path("id")]
        let (fault, file) = ("openat:error=EACCES", scratch.path("id"))
        let outcome = try Tracer.run(arguments, injecting: fault, into: "openat", at: file, in: scratch)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.error.contains("id cannot be read (Permission denied); name another file"), "\(outcome.error)")
        #expect(try scratch.contents("id") == Data("-----BEGIN PRIVATE KEY-----\nabc\n".utf8))
    }

    @Test func `without a token the file stays as it is`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            try scene.scratch.write("before", to: "token")
            scene.provider.faults.add(.status(503, at: "token", times: nil))
            let outcome = try await scene.tokens(1, "--output", scene.scratch.path("token"))[0]
            #expect(outcome.status == 8)
            #expect(try scene.scratch.contents("token") == Data("before".utf8))
        }
    }

    @Test(arguments: [
        ["--watch"], ["--output", ""], ["--output", "x", "--format", "json"], ["--output", "x", "--export"],
        ["--output", "x", "--watch", "--json"], ["--output", "x", "--watch", "--cached"], ["--env-name", "A-B"],
        ["--env-name", ""], ["--env-name", "A", "--format", "json"], ["--cached", "--force-refresh"],
        ["--env-name", "A\u{301}"], ["--env-name", "x;id"],
    ])
    func `options that exclude each other are a usage error`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        #expect(try scratch.command(Self.mara + arguments).status == 64)
        #expect(try scratch.names.isEmpty)
    }

    @Test(arguments: [
        (["--env-name", "API_TOKEN"], "API_TOKEN='"), (["--export"], "export ACCESS_TOKEN='"),
        (["--format", "env", "--export", "--env-name", "_t1"], "export _t1='"),
    ])
    func `the variable has the name that is asked for`(arguments: [String], start: String) throws {
        #expect(try Self.filled().command(Self.mara + arguments).output == start + token + "'\n")
    }

    // MARK: - Without the network

    @Test func `--cached serves what the store has, and asks nobody`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let stored = try await scene.tokens(1, "--cached")[0]
            #expect(stored.status == 0)
            let longer = try await scene.tokens(1, "--cached", "--min-ttl", "7200")[0]
            #expect(longer.status == 8)
            #expect(longer.error.contains("leave --cached out"), "\(longer.error)")
            try await scene.signIn(lifetime: 3_600, isAging: true)
            #expect(try await scene.tokens(1, "--cached")[0].status == 0)
            try await scene.signIn(lifetime: 0)
            #expect(try await scene.tokens(1, "--cached")[0].status == 8)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `--cached of an account without a refresh token is exit status 4`() throws {
        let scratch = try ScratchDirectory()
        var user = CachedUser.mara
        user.hasRefreshToken = false
        user.lifetimes = [-60]
        try scratch.fill(user)
        #expect(try scratch.command(Self.mara + ["--cached"]).status == 4)
    }

    @Test func `--cached does not take an altered token for none`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.command(Self.mara + ["--cached"]).status == 0)
        try scratch.execute("UPDATE access_token SET secret = CAST(zeroblob(length(secret)) AS BLOB)")
        #expect(try scratch.command(Self.mara + ["--cached"]).status == 6)
    }

    // MARK: - ID tokens

    @Test func `--id-token prints the ID token of the account, and refreshes one that has ended`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let stored = try await scene.tokens(1, "--id-token", "--json")[0].json
            let text = try #require(stored["idToken"] as? String)
            #expect(text.split(separator: ".").count == 3)
            #expect(stored["source"] as? String == "cache")
            #expect(stored["accessToken"] == nil)
            #expect(try await scene.tokens(1, "--id-token")[0].output == text + "\n")
            #expect(scene.tokenRequestCount == 0)
            let renewed = try await scene.tokens(1, "--id-token", "--force-refresh", "--json")[0].json
            #expect(renewed["source"] as? String == "refresh")
            #expect(renewed["idToken"] as? String != text)
            #expect(scene.tokenRequestCount == 1)
            let explained = try await scene.run("explain", "--id-token", "--scope", IssuerScene.scope.text)
            #expect(explained.output.hasPrefix("decision  the stored ID token would be handed out\n"))
            let refreshed = try await scene.run(
                ["explain", "--id-token", "--min-ttl", "999999", "--scope", IssuerScene.scope.text]
            )
            #expect(refreshed.output.hasPrefix("decision  refresh at "), "\(refreshed.output)")
            let longer = try await scene.tokens(1, "--id-token", "--min-ttl", "999999")[0]
            #expect(longer.status == 4)
            #expect(longer.error.contains("not good for long enough"), "\(longer.error)")
            #expect(longer.error.contains(" --scope "), "\(longer.error)")
        }
    }

    @Test func `a refresh that brings an ID token alone is enough for --id-token`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let text = try await scene.tokens(1, "--id-token")[0].output.trimmingCharacters(in: .newlines)
            let answer = #"{"token_type":"Bearer","id_token":"\#(text)","refresh_token":"rt-2"}"#
            for _ in 1...2 { scene.provider.faults.add(.answer(body: answer, at: "token")) }
            let renewing = ["token", "--id-token", "--force-refresh"]
            // The scope of a sign-in that asked for no API.
            let renewed = try await scene.run(renewing + ["--scope", "openid offline_access", "--json"])
            #expect(renewed.status == 0, "\(renewed)")
            #expect(try renewed.json["source"] as? String == "refresh")
            #expect(try renewed.json["idToken"] as? String == text)
            let asked = try await scene.tokens(1, "--force-refresh")[0]
            #expect(asked.status == 1)
            #expect(asked.error.contains("the issuer sent no access token, only an ID token"), "\(asked.error)")
        }
    }

    @Test func `of a guest's ID tokens that of the home tenant is printed, or of the one that is named`() throws {
        let scratch = try ScratchDirectory()
        let now = Int64(Date().timeIntervalSince1970)
        let login = "https://login.microsoftonline.com/"
        let rows = [(Guest.home, now - 60), (Guest.other, now - 30)].map { tenant, issued in
            let claims = Fixture.claims([
                "iss": .string("\(login)\(tenant)/v2.0"), "tid": .string(tenant), "iat": .number(String(issued)),
                "exp": .number(String(now + 3_600)),
            ])
            return JSONValue.idToken(
                claims,
                ["home_account_id": .string("u1." + Guest.home), "realm": .string(tenant)]
            )
        }
        #expect(try scratch.run("import", input: JSONValue.cache(idTokens: rows).serialized).status == 0)
        let (home, guest) = (try #require(rows[0]["secret"].text), try #require(rows[1]["secret"].text))
        let choices: [([String], String)] = [
            ([], home), (["--tenant", Guest.home], home), (["--tenant", Guest.other], guest),
            (["--authority", login + "common"], home), (["--authority", login + Guest.other], guest),
        ]
        for (options, expected) in choices {
            let outcome = try scratch.command(["token", "--id-token", "--cached"] + options)
            #expect(outcome.output == expected + "\n", "\(options): \(outcome)")
            let credential = try scratch.command(["credential", "kubernetes", "--id-token", "--cached"] + options)
            #expect(credential.output.contains(expected), "\(options): \(credential)")
        }
        // What no one asked for does not stand in.
        let third = Guest.home.replacing("1", with: "3")
        let others = [login + third, "https://login.microsoftonline.us/\(Guest.home)", "https://id.example.net/a"]
        for other in others {
            let outcome = try scratch.run("token", "--id-token", "--cached", "--authority", other)
            #expect(outcome.status != 0 && outcome.output.isEmpty, "\(other): \(outcome)")
        }
    }

    @Test func `an ID token that has ended is not handed out with --cached`() throws {
        let outcome = try Self.filled().command(["token", "--id-token", "--cached"])
        #expect(outcome.status == 8)
        #expect(outcome.output.isEmpty)
    }
}
