import LocalIdentityProvider
import Testing

struct LogoutCommandTests {
    @Test func `a sign-out ends the session at the issuer and deletes the account`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("logout", "ana.rojas@example.org")
            #expect(outcome.status == 0 && outcome.output.contains("the issuer ended the session"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
            #expect(try await scene.run("logout", "ana.rojas@example.org").status == 3)
        }
    }

    @Test func `a local sign-out asks nobody`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("logout", "ana.rojas@example.org", "--local-only", "--json")
            let revocations = try outcome.json["revocations"] as? [[String: Any]]
            #expect(revocations?.first?["outcome"] as? String == "local_only")
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `a revocation that fails is reported, and the account goes all the same`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.status(503, at: "revoke"))
            let outcome = try await scene.run("logout", "ana.rojas@example.org")
            #expect(outcome.status == 0 && outcome.error.contains("was not ended at the issuer"))
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }
}
