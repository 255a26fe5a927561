import Database
import Foundation
import IssuerSupport
import OAuth
import TestTraits
import Testing
import TokenStorage

/// `token` at an issuer that is not Microsoft's, as a script meets it.
@Suite(.onWaitingThreads)
struct ProviderTokenTests {
    private static let client = "app"

    /// A store with a person signed in for `scope`, whose access token is good for `lifetime` seconds.
    private struct Session {
        let issuer: HandmadeIssuer
        let scratch: ScratchDirectory

        init(scope: Scope, lifetime: Int64) throws {
            issuer = try HandmadeIssuer()
            scratch = try ScratchDirectory()
            let now = Int(Date().timeIntervalSince1970)
            let claims = #"{"iss":"\#(issuer.issuer)","sub":"1","aud":"\#(client)","iat":\#(now),"exp":\#(now + 600)}"#
            let parts = [#"{"alg":"RS256"}"#, claims, "signature"].map { Base64URL.encode(Array($0.utf8)) }
            var response = TokenResponse(accessToken: Secret("at-0"), expiresIn: .seconds(lifetime))
            response.refreshToken = Secret("rt-0")
            response.idToken = Secret(parts.joined(separator: "."))
            response.scope = scope
            let authority = try Authority(issuer: issuer.issuer)
            let request = TokenRequest(clientID: client, authority: authority, scope: scope, grant: .authorizationCode)
            try TokenStore.open(at: StorePath(scratch.store)).save(response, for: request)
        }

        func token(_ arguments: String...) async throws -> Command.Outcome {
            let command = Command(arguments: ["token"] + arguments, environment: ["TOKENSTORE_PATH": scratch.store])
            return try await command.runAside(in: scratch)
        }
    }

    @Test func `a session for no API returns its token, and refreshes it`() async throws {
        let session = try Session(scope: "openid profile", lifetime: 3_600)
        for arguments in [[], ["--scope", "openid"], ["--scope", "profile,openid"]] {
            let command = Command(
                arguments: ["token"] + arguments,
                environment: ["TOKENSTORE_PATH": session.scratch.store]
            )
            let outcome = try await command.runAside(in: session.scratch)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output == "at-0\n")
        }
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await session.token("--force-refresh").output == "at-1\n")
        #expect(try await session.token("--scope", "openid").output == "at-1\n")
        #expect(session.issuer.forms().map { $0["scope"] } == [nil])
    }

    @Test func `without --scope the token is the one of the sign-in`() async throws {
        let session = try Session(scope: "openid read", lifetime: 3_600)
        #expect(try await session.token().output == "at-0\n")
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600,"scope":"openid read write"}"#))
        #expect(try await session.token("--scope", "write").output == "at-1\n")
    }

    @Test func `a new token that ends too soon is exit status 4 with the reason`() async throws {
        let session = try Session(scope: "read", lifetime: 0)
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":6}"#))
        let outcome = try await session.token("--scope", "read", "--min-ttl", "99999")
        #expect(outcome.status == 4)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains("is good for 6 s, and 99999 s were asked for"), "\(outcome.error)")
        #expect(try await session.token("--scope", "read", "--min-ttl", "1").output == "at-1\n")
    }

    @Test func `the end of a token that lasts for ever is one time in both members`() async throws {
        let session = try Session(scope: "read", lifetime: 0)
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":99999999999999}"#))
        let outcome = try await session.token("--scope", "read", "--format", "json")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try outcome.json["expiresAt"] as? String == "9999-12-31T23:59:59Z")
        #expect(try outcome.json["expiresAtEpoch"] as? Int == 253_402_300_799)
    }

    @Test func `a store that another process holds is exit status 5`() async throws {
        let session = try Session(scope: "read", lifetime: 0)
        let holder = try Connection(path: session.scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        try holder.execute("BEGIN IMMEDIATE")
        let outcome = try await session.token("--scope", "read", "--timeout", "1", "--json")
        #expect(outcome.status == 5, "\(outcome.error)")
        #expect(try outcome.errorJSON["code"] as? String == "store_busy")
        try holder.execute("ROLLBACK")
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await session.token("--scope", "read").output == "at-1\n")
    }

    @Test func `a token that is good enough is served while the store cannot be written`() async throws {
        let session = try Session(scope: "read", lifetime: 3_600)
        try await TokenStore.open(at: StorePath(session.scratch.store)).withWriter {
            try $0.update("access_token", set: "refresh_on = 1")
        }
        let holder = try session.scratch.holdForWriting()
        let outcome = try await session.token("--scope", "read", "--timeout", "1")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output == "at-0\n")
        #expect(outcome.error.contains("the refresh failed; the stored token is still valid"), "\(outcome.error)")
        try holder.execute("ROLLBACK")
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await session.token("--scope", "read").output == "at-1\n")
    }

    @Test func `an error has a bounded length for any answer of the issuer`() async throws {
        let session = try Session(scope: "read", lifetime: 0)
        session.issuer.publish(JSONValue.Object([("issuer", .string(String(repeating: "x", count: 500_000)))]))
        let outcome = try await session.token("--scope", "read")
        #expect(outcome.status == 1)
        #expect(outcome.error.utf8.count < 4_000)
        #expect(outcome.error.hasSuffix("check the issuer's address\n"))
        let many = (0..<20_000).map { "scope.\($0)" }.joined(separator: " ")
        session.issuer.publish()
        session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600,"scope":"\#(many)"}"#))
        let declined = try await session.token("--scope", "read")
        #expect(declined.output == "at-1\n")
        #expect(declined.error == "tokenstore: the issuer did not grant read\n")
    }

    @Test func `scopes that the issuer declined are in the JSON document, and said with --quiet`() async throws {
        let session = try Session(scope: "read", lifetime: 0)
        for option in ["--no-input", "--quiet"] {
            session.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600,"scope":"write"}"#))
            let outcome = try await session.token("--scope", "read", "--force-refresh", "--format", "json", option)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error == "tokenstore: the issuer did not grant read\n")
            #expect(try outcome.json["scopes"] as? [String] == ["write"])
            #expect(try outcome.json["declinedScopes"] as? [String] == ["read"])
        }
    }
}
