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

    @Test(arguments: ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"])
    func `an entry in the form of memory is rejected, and the reason says so`(bucket: String) throws {
        let fixture = try TestStore()
        let names = ["home_account_id": "homeAccountId", "client_id": "clientId", "expires_on": "expiresOn"]
        let rows: [String: JSONValue] = [
            "AccessToken": .accessToken("a", "s1"), "RefreshToken": .refreshToken("r"), "IdToken": .idToken(),
            "Account": .account(), "AppMetadata": .appMetadata(),
        ]
        let members = rows[bucket]?.object?.members.map { (name: names[$0.name] ?? $0.name, value: $0.value) }
        let report = try fixture.take([bucket: ["k": .object(.init(members ?? []))]])
        let reason = """
            it is in the form that MSAL.js has in memory: tokenCache.serialize() returns one that can be imported
            """
        #expect(report.rejected.map(\.reason) == [reason])
    }

    @Test func `an entry without a client is not said to be in another form`() throws {
        let fixture = try TestStore()
        let row = JSONValue.accessToken("a", "s1").with([:], without: "client_id")
        #expect(try fixture.take(["AccessToken": ["k": row]]).rejected.map(\.reason) == ["it has no client_id"])
    }
}
