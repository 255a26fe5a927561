import Foundation
import LocalIdentityProvider
import OAuth
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ExplainCommandTests {
    private static let scope = IssuerScene.scope.text

    @Test func `explain says that a stored token would be used, and writes nothing`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let before = try scene.scratch.contents("tokenstore.db")
            let outcome = try await scene.run("explain", "--scope", Self.scope)
            #expect(outcome.status == 0)
            #expect(outcome.output.hasPrefix("decision  the stored token would be handed out\n"))
            #expect(outcome.output.contains("fits best"))
            #expect(outcome.output.contains("the only account"))
            #expect(try scene.scratch.contents("tokenstore.db") == before)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `explain says which refresh token would be used, and prints no token`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("explain", "--scope", Self.scope, "--json")
            let decision = try outcome.json["decision"] as? [String: Any]
            #expect(decision?["action"] as? String == "refresh")
            let tokens = decision?["refreshTokens"] as? [[String: Any]]
            #expect(tokens?.first?["clientId"] as? String == "pwd-app")
            #expect(!outcome.output.contains("rt_"))
            #expect(!outcome.output.contains("eyJ"))
        }
    }

    @Test func `an account without a username has null in the document`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.nameless)
        let document = try scratch.run("explain", "--scope", "tasks.read", "--account", "nobody", "--json").json
        let account = try #require((document["accounts"] as? [[String: Any]])?.first)
        #expect(account["username"] is NSNull)
    }

    @Test func `explain says why a token does not fit`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("explain", "--scope", "api://other/Read")
            #expect(outcome.output.contains("lacks api://other/Read"))
            #expect(outcome.output.contains("refresh at \(scene.provider.baseURL)"))
        }
    }

    @Test func `explain with --cached decides as token does with it`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            for options in [["--scope", "api://other/Read"], ["--id-token", "--min-ttl", "100000"]] {
                let token = try await scene.run(["token", "--cached"] + options)
                #expect(token.status == 8, "\(token.error)")
                let outcome = try await scene.run(["explain", "--cached", "--json"] + options)
                let decision = try #require(try outcome.json["decision"] as? [String: Any])
                #expect(decision["action"] as? String == "fail")
                let sentence = try #require(decision["reason"] as? String)
                #expect(token.error == "tokenstore: error: \(sentence)\n")
            }
        }
    }
}
