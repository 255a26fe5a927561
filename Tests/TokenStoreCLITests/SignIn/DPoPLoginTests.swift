import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Sessions on the command line whose tokens are bound to a key.
@Suite(.onWaitingThreads)
struct DPoPLoginTests {
    @Test func `login --dpop binds the session, and its token is printed as text or JSON`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            scene.provider.proofs.set { $0.demandsNonce = true }
            let outcome = try await scene.logIn("--dpop")
            #expect(outcome.status == 0, "\(outcome.error)")
            let json = try await scene.run("token", "--format", "json", "--scope", LoginScene.scope)
            #expect(try json.json["tokenType"] as? String == "DPoP")
            let text = try await scene.run("token", "--scope", LoginScene.scope)
            #expect(text.status == 0)
            #expect(text.error.contains("DPoP proof"))
            #expect(try await scene.run("list", "--tokens").output.contains("DPoP"))
            let store = try await TokenStore.open(at: StorePath(scene.scratch.store))
            let account = try await #require(try store.accounts().first)
            #expect(try store.boundKey(of: account.id, client: "b2c-app") != nil)
            let export = try await scene.run("export")
            #expect(export.error.contains("the tokens of 1 session with --dpop are left out"))
            #expect(!export.output.contains("DPoP"))
        }
    }

    @Test func `the command that signs in again asks for no less`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await scene.logIn("--dpop")
            let body = #"{"error":"interaction_required","error_description":"No."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            let ended = try await scene.run("token", "--scope", LoginScene.scope, "--claims", claims)
            #expect(ended.status == 4)
            for part in [" --scope \(LoginScene.scope)", " --claims '\(claims)'", " --dpop"] {
                #expect(ended.error.contains(part), "\(ended.error)")
            }
        }
    }

    @Test func `a login at an issuer that wants a proof names the command that sends one`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let body = #"{"error":"invalid_dpop_proof","error_description":"The proof is missing."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let outcome = try await scene.logIn()
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("The proof is missing; sign in with 'tokenstore login "), "\(outcome.error)")
            #expect(outcome.error.contains(" --dpop"), "\(outcome.error)")
        }
    }

    @Test(arguments: ["header", "env", "exec-credential"])
    func `a bound token is not printed in a format that is sent as it is`(format: String) async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await scene.logIn("--dpop")
            let outcome = try await scene.run("token", "--scope", LoginScene.scope, "--format", format)
            #expect(outcome.status == 1)
            #expect(outcome.output == "")
            #expect(outcome.error.contains("DPoP proof"))
            #expect(!outcome.error.contains("eyJ"))
        }
    }

    @Test func `processes that need one bound token share one refresh`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await scene.logIn("--dpop")
            let before = scene.provider.audit.count(of: "token")
            let lifetime = ["token", "--scope", LoginScene.scope, "--min-ttl", "3000"]
            try Self.expire(scene)
            let outcomes = try await withThrowingTaskGroup(of: Command.Outcome.self) { group in
                for _ in 0..<4 { group.addTask { try await scene.run(lifetime) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes.map(\.error))")
            #expect(Set(outcomes.map(\.output)).count == 1)
            #expect(scene.provider.audit.count(of: "token") == before + 1)
        }
    }

    /// Takes the access tokens away, as if they had ended.
    private static func expire(_ scene: LoginScene) throws {
        let store = try TokenStore.open(at: StorePath(scene.scratch.store))
        try store.withWriter { try $0.update("access_token", set: "expires_on = cached_at, refresh_on = NULL") }
    }

    @Test func `an issuer without DPoP refuses a bound sign-in, and --native excludes it`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            scene.provider.proofs.set { $0.isSupported = false }
            let outcome = try await scene.logIn("--dpop")
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("does not support DPoP"))
            #expect(try scene.hasNoStore)
            let native = try await scene.run(
                ["login", "--native", "--dpop", "--client-id", "a", "--authority", "https://b.example"]
            )
            #expect(native.status == 64)
        }
    }
}
