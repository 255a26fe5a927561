import Foundation
import TestSupport
import TestTraits
import Testing

/// MSAL for Python continues a session that `tokenstore login` began.
@Suite(.onWaitingThreads)
struct MSALContinuationTests {
    private static let why: Comment = "needs openssl, MSAL for Python, and the right to listen on port 443"

    /// To MSAL an issuer at another port is another host, so this one is at the port of https.
    private static let isPossible = PrivateAuthority.isAvailable && MSALPythonTests.hasMSAL && geteuid() == 0

    private static let tenant = "5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"

    @Test(.enabled(if: isPossible, why))
    func `MSAL for Python continues an exported login, with OIDC and B2C authority`() async throws {
        let authority = try PrivateAuthority()
        try await LoginScene.open(port: 443, authority: authority) { _ in
            let base = "https://127.0.0.1"
            let places = [
                ("oidc", ["--issuer", "\(base)/\(Self.tenant)/v2.0"], "\(base)/\(Self.tenant)/v2.0"),
                (
                    "b2c", ["--authority", "\(base)/\(Self.tenant)", "--policy", "b2c_1_susi"],
                    "\(base)/\(Self.tenant)/b2c_1_susi"
                ),
            ]
            for (kind, arguments, address) in places {
                let scratch = try ScratchDirectory()
                let more = ["--client-id", "b2c-app", "--scope", LoginScene.scope, "--ca-file", authority.path]
                let login = try await LoginRun(scratch: scratch).run(arguments + more) {
                    try await LoginScene.signIn(at: $0, caFile: authority.path)
                }
                #expect(login.status == 0, "\(login.error)")
                let file = scratch.path("cache.json")
                #expect(try scratch.run("export", file).status == 0)
                let token = try scratch.run("token", "--scope", LoginScene.scope).output
                let found = try await onOwnThread {
                    try MSALPythonTests.script(
                        "continue_session.py",
                        [file, kind, address, authority.path, "b2c-app", LoginScene.scope],
                        trusting: authority.path
                    )
                }
                let result = try JSONSerialization.jsonObject(with: Data(found.utf8)) as? [String: String] ?? [:]
                #expect(result["username"] == LoginScene.ana, "\(kind): \(found)")
                #expect(result["cached"].map { $0 + "\n" } == token, "\(kind)")
                #expect(result["cachedSource"] == "cache", "\(kind)")
                #expect(result["renewedSource"] == "identity_provider")
                #expect(result["renewed"] != result["cached"])
            }
        }
    }
}
