import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// "Sign in again" comes with the command that does it.
@Suite(.onWaitingThreads)
struct SignInAgainTests {
    @Test func `the command signs the account of a user flow in again`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            #expect(try await scene.logIn().status == 0)
            let body = #"{"error":"invalid_grant","error_description":"No."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let ended = try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope)
            #expect(ended.status == 4)
            #expect(
                ended.error.contains("No; sign in again with 'tokenstore login --authority http://"),
                "\(ended.error)"
            )
            let command = HintShell.quoted(ended.error)
            #expect(command.contains(" --client-id b2c-app --login-hint ana.rojas@example.org "), "\(command)")
            let words = command.split(separator: " ").map(String.init)
            let again = try await scene.login.run(Array(words.dropFirst(2))) { try await LoginScene.signIn(at: $0) }
            #expect(again.status == 0, "\(again.error)")
            #expect(try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope).status == 0)
            #expect(try await scene.run("list", "--json").json["total"] as? Int == 1)
        }
    }

    @Test func `names that a shell reads otherwise are quoted`() throws {
        let scratch = try ScratchDirectory()
        var user = CachedUser.mara
        user.username = "o'hara $(id)@example.net"
        user.hasRefreshToken = false
        user.lifetimes = [-60]
        try scratch.fill(user)
        let outcome = try scratch.run("token", "--scope", "tasks.read", "--store", scratch.store)
        #expect(outcome.status == 4)
        #expect(outcome.error.contains(#"--login-hint 'o'\''hara $(id)@example.net'"#), "\(outcome.error)")
        #expect(outcome.error.contains("--store \(scratch.store)"), "\(outcome.error)")
    }

    @Test func `a failed revocation is no reason to try again`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            #expect(try await scene.logIn().status == 0)
            scene.provider.faults.add(.status(503, at: "revoke"))
            let outcome = try await scene.run("logout", LoginScene.ana)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.contains("was not ended at the issuer"), "\(outcome.error)")
            #expect(!outcome.error.contains("try again"), "\(outcome.error)")
            #expect(try await scene.run("list", "--json").json["total"] as? Int == 0)
        }
    }
}
