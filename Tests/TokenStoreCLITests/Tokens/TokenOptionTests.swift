import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What `token` takes beside the account and the scope.
@Suite(.onWaitingThreads)
struct TokenOptionTests {
    @Test func `a session that is too old needs a sign-in, and one that is not serves`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            #expect(try await scene.tokens(1, "--max-session-age", "1h")[0].status == 0)
            let refused = try await scene.tokens(1, "--max-session-age", "0s", "--json")[0]
            #expect(refused.status == 4)
            #expect(
                (try refused.errorJSON["hint"] as? String)?.hasPrefix("sign in again with \'tokenstore login ") == true
            )
            #expect(scene.tokenRequestCount == 0)
            #expect(try await scene.tokens(1, "--max-session-age", "long")[0].status == 64)
        }
    }

    @Test(arguments: [["token"], ["exec"], ["credential", "kubernetes"], ["token", "--cached"], ["explain"]])
    func `an ID token of a session that is too old is not handed out`(command: [String]) async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let end = command == ["exec"] ? ["--", "true"] : []
            for (age, status) in [("1h", Int32(0)), ("0s", command == ["explain"] ? 0 : 4)] {
                let outcome = try await scene.run(command + ["--id-token", "--max-session-age", age] + end)
                #expect(outcome.status == status, "\(age): \(outcome)")
                let isRefused = (outcome.output + outcome.error).contains("longer ago than is allowed")
                #expect(isRefused == (age == "0s"), "\(outcome)")
            }
            #expect(scene.tokenRequestCount == 0)
            guard command == ["token"] else { return }
            let late = ["--force-refresh", "--min-ttl", "600", "--max-session-age", "400s"]
            #expect(try await scene.run(command + ["--id-token"] + late).status == 4)
        }
    }

    @Test func `of an imported account the sign-in is not known, so it counts as too old`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let arguments = ["--scope", "tasks.read"]
        #expect(try run(["token"] + arguments, in: scratch).status == 0)
        #expect(try run(["token", "--max-session-age", "52w"] + arguments, in: scratch).status == 4)
    }

    @Test(arguments: ["token", "explain"])
    func `of several accounts the one of the user flow that is named gets its token`(command: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.run("import", input: CachedUser.cache([.mara, .ivo]))
        let authority = "https://\(CachedUser.mara.environment)/\(CachedUser.mara.tenant)/b2c_1_signin"
        let outcome = try run([command, "--scope", "tasks.read", "--authority", authority], in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        let isToken = outcome.output == CachedUser.mara.secret("access") + "\n"
        #expect(isToken || outcome.output.contains("mara@example.net"), "\(outcome.output)")
        #expect(try run(["token", "--scope", "tasks.read"], in: scratch).status == 3)
    }

    @Test func `an outage is bridged with an expired token where that is asked for`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            try await scene.signIn(lifetime: 0) { $0.extendedExpiresIn = .seconds(7_200) }
            scene.provider.faults.add(.status(503, at: "token", times: nil))
            #expect(try await scene.tokens(1)[0].status == 8)
            let bridged = try await scene.tokens(1, "--extended-lifetime")[0]
            #expect(bridged.status == 0, "\(bridged.error)")
            #expect(bridged.error.contains("the refresh failed"))
        }
    }

    @Test func `a refresh token of the family is used where that is asked for`() throws {
        let scratch = try ScratchDirectory()
        let store = try TokenStore.open(at: StorePath(scratch.store))
        let family: JSONValue = .refreshToken("r", ["client_id": "mail", "family_id": "1"])
        try store.take(
            JSONValue.cache(
                refreshTokens: [family],
                accounts: [.account()],
                appMetadata: [.appMetadata(["client_id": "files", "family_id": "1"])]
            ).serialized
        )
        store.close()
        let explain = ["explain", "--json", "--scope", "api://x/Read", "--client-id", "files"]
        let alone = try run(explain, in: scratch)
        #expect(action(of: try alone.json) != "refresh", "\(alone.output)")
        let shared = try run(explain + ["--family-tokens"], in: scratch)
        #expect(action(of: try shared.json) == "refresh", "\(shared.output)\(shared.error)")
    }

    @Test func `a client without a refresh token of its own is told of its family's`() throws {
        let scratch = try ScratchDirectory()
        let store = try TokenStore.open(at: StorePath(scratch.store))
        try store.take(
            JSONValue.cache(
                accessTokens: [.accessToken("a", "s1", ["client_id": "files"])],
                refreshTokens: [.refreshToken("r", ["client_id": "mail", "family_id": "1"])],
                accounts: [.account()]
            ).serialized
        )
        store.close()
        let request = ["--scope", "api://x/Read", "--client-id", "files"]
        let hint = "one of a family of clients; add --family-tokens, or sign in again with 'tokenstore login "
        let token = try run(["token"] + request, in: scratch)
        #expect(token.status == 4)
        #expect(token.error.contains(hint), "\(token.error)")
        let explained = try run(["explain"] + request + ["--json"], in: scratch)
        #expect(explained.output.contains(hint), "\(explained.output)")
    }

    private func action(of document: [String: Any]) -> String? {
        (document["decision"] as? [String: Any])?["action"] as? String
    }

    private func run(_ arguments: [String], in scratch: ScratchDirectory) throws -> Command.Outcome {
        try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store]).run(in: scratch)
    }
}
