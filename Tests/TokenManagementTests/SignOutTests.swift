import IssuerSupport
import LocalIdentityProvider
import OAuth
import Testing
import TokenManagement
import TokenStorage

struct SignOutTests {
    @Test func `N46: a sign-out revokes and removes, and a second one is harmless`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let secret = try scene.refreshTokens[0].secret
            let manager = try scene.manager()
            #expect(try await manager.signOut(scene.account) == .revoked)
            #expect(try await manager.signOut(scene.account) == .nothingToRevoke)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.store.accounts().isEmpty)
            #expect(try !scene.files(contain: secret))
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard case .interactionRequired(.signedOut) = error else { throw Missing("signedOut") }
        }
    }

    @Test func `a local sign-out leaves the issuer out of it`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            #expect(try await scene.manager().signOut(scene.account, locally: true) == .localOnly)
            #expect(scene.provider.audit.counts.isEmpty)
            #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `an issuer that refuses to revoke does not keep the account`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let body = #"{"error":"invalid_client"}"#
            scene.provider.faults.add(.answer(status: 401, body: body, at: "revoke"))
            guard case .failed(let reason) = try await scene.manager().signOut(scene.account) else {
                throw Missing("a reason")
            }
            #expect(reason.contains("invalid_client"))
            #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test func `an issuer without a revocation endpoint is not an error`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let base = scene.provider.baseURL
            let body = #"{"issuer":"\#(base)/x","token_endpoint":"\#(base)/x/token"}"#
            scene.provider.faults.add(.answer(body: body, at: "metadata"))
            #expect(try await scene.manager().signOut(scene.account) == .notOffered)
            #expect(try scene.store.accounts().isEmpty)
        }
    }

    @Test(arguments: [
        (404, "answered 404"), (503, "answered 503"), (400, "refused: the issuer answered invalid_client"),
    ])
    func `a revocation that fails names its endpoint`(status: Int, words: String) async throws {
        let scene = try OpenScene()
        let url = scene.issuer.issuer + "/revoke"
        scene.issuer.publish(JSON.Object([("revocation_endpoint", .string(url))]))
        scene.issuer.answer(
            .init(status: status, status == 400 ? #"{"error":"invalid_client"}"# : ""),
            at: "/op/revoke"
        )
        let report = try await scene.manager().signOut(scene.account)
        #expect(report == .failed("the revocation endpoint \(url) \(words)"))
    }
}
