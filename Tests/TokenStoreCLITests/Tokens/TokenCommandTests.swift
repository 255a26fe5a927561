import Foundation
import LocalIdentityProvider
import TestTraits
import Testing
import TokenStorage

@Suite(.onWaitingThreads)
struct TokenCommandTests {
    @Test func `C87, N44 and R2: 64 processes that need one token send one request`()
        async throws
    {
        try await IssuerScene.open(lifetime: 0) { scene in
            let outcomes = try await scene.tokens(64)
            #expect(outcomes.allSatisfy { $0.status == 0 }, "\(Set(outcomes.map(\.error)))")
            #expect(Set(outcomes.map(\.output)).count == 1)
            #expect(scene.tokenRequestCount == 1)
            let next = try await scene.tokens(1, "--force-refresh")
            #expect(next[0].status == 0)
            #expect(scene.tokenRequestCount == 2)
        }
    }

    @Test func `every format prints the stored token without a request`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let token = try await scene.tokens(1)[0].output.dropLast()
            #expect(token.split(separator: ".").count == 3)
            #expect(try await scene.tokens(1, "--format", "header")[0].output == "Authorization: Bearer \(token)\n")
            #expect(try await scene.tokens(1, "--format", "env")[0].output == "ACCESS_TOKEN='\(token)'\n")
            let json = try await scene.tokens(1, "--json")[0].json
            #expect(json["accessToken"] as? String == String(token))
            #expect(json["source"] as? String == "cache")
            #expect(json["scopes"] as? [String] == ["api://todolist/ToDoList.Read"])
            let credential = try await scene.tokens(1, "--format", "exec-credential")[0].json
            #expect((credential["status"] as? [String: Any])?["token"] as? String == String(token))
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `a session that has ended is exit status 4, and an outage 8`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.status(503, at: "token", times: 2))
            let outage = try await scene.tokens(1, "--json")[0]
            #expect(outage.status == 8)
            #expect(try outage.errorJSON["code"] as? String == "network")
            try await scene.signIn(lifetime: 0)
            let body = #"{"error":"invalid_grant","error_description":"No."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let ended = try await scene.tokens(1, "--json")[0]
            #expect(ended.status == 4)
            #expect(try ended.errorJSON["code"] as? String == "interaction_required")
            #expect(
                (try ended.errorJSON["hint"] as? String)?.hasPrefix("sign in again with \'tokenstore login ") == true
            )
        }
    }

    @Test func `R10: an issuer that hangs ends in a clear error within the time limit`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hang(at: "token", times: nil))
            let outcome = try await scene.tokens(1, "--timeout", "1")[0]
            #expect(outcome.status == 8, "\(outcome.error)")
            #expect(outcome.error.contains("try again"), "\(outcome.error)")
        }
    }
}
