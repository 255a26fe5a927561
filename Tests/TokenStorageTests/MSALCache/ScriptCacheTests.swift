import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What MSAL.js has in a browser or in memory, which is not the cache that it serializes.
@Suite(.onBothEngines)
struct ScriptCacheTests {
    @Test(
        arguments: [
            ("msal.2|u1.t1|login.windows.net|accesstoken|c1|t1|read||", true),
            ("msal.2|u1.t1|login.windows.net|RefreshToken|c1||||", true),
            ("u1.t1|login.windows.net|idtoken|c1|t1|||", false), ("msal.1.token.keys.c1", false),
            ("u1.t1-login.windows.net-accesstoken_with_authscheme-c1-t1-read-pop", false),
            ("u1.t1-login.windows.net-refreshtoken-c1--", true),
        ]
    )
    func `what a browser keeps is called so, encrypted or not`(key: String, isEncrypted: Bool) throws {
        let fixture = try TestStore()
        let entry: JSONValue = isEncrypted ? ["id": "1", "nonce": "n", "data": "d"] : ["secret": "s"]
        let reason =
            "the document has no bucket of an MSAL cache, such as AccessToken, but the entries that MSAL.js keeps "
            + (isEncrypted ? "encrypted in a browser" : "in a browser or in memory")
            + "; sign in instead, or import what MSAL for Node has serialized"
        // A browser's storage holds texts.
        for value in [entry, .string(entry.serialized)] {
            let document = JSONValue.object(.init([("theme", "dark"), (key, value)]))
            let error = expectError(.failure) { try fixture.store.take(document.serialized) }
            #expect(error?.description == reason)
        }
    }
}
