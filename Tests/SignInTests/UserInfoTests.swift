import Foundation
import IssuerSupport
import OAuth
import SignIn
import TestSupport
import Testing
import TokenStorage

/// Issuers whose ID token does not say what the user is called (OpenID Connect Core §5.4).
struct UserInfoTests {
    private static let path = "/op/userinfo"

    /// An issuer whose UserInfo endpoint is at `address`, else its own, which answers with `body`.
    private func issuer(answering body: String? = nil, at address: String? = nil) throws -> ForgedIssuer {
        let issuer = try ForgedIssuer()
        issuer.issuer.publish(
            JSONValue.Object([
                ("authorization_endpoint", .string(issuer.issuer.issuer + "/authorize")),
                ("jwks_uri", .string(issuer.issuer.issuer + "/keys")),
                ("userinfo_endpoint", .string(address ?? issuer.issuer.baseURL + Self.path)),
            ])
        )
        if let body { issuer.issuer.answer(.init(body), at: Self.path) }
        return issuer
    }

    private func signIn(at issuer: ForgedIssuer) async throws -> AuthenticationResult {
        try await issuer.signIn { issuer, nonce in
            var claims = issuer.claims(nonce: nonce)
            claims["name"] = nil
            return try issuer.genuine(claims)
        }
    }

    @Test func `an account is named by what the issuer tells the bearer of its access token`() async throws {
        let issuer = try issuer(answering: #"{"sub":"s-1","preferred_username":"noa","name":"Noa Vidal"}"#)
        let result = try await signIn(at: issuer)
        #expect(result.account.username == "noa")
        #expect(result.account.name == "Noa Vidal")
        #expect(issuer.issuer.authorizations(Self.path) == ["Bearer at"])
        await #expect(try issuer.store.accounts().map(\.username) == ["noa"])
        let rows = try issuer.store.rows("Account")
        #expect(rows.map { $0["username"] } == ["noa"])
        #expect(rows.map { $0["name"] } == ["Noa Vidal"])
        await #expect(try issuer.store.events().map(\.kind) == [.name, .signIn])
        // It stays so called where the issuer does not answer the next time.
        issuer.issuer.answer(.init(status: 500), at: Self.path)
        #expect(try await signIn(at: issuer).account.username == "noa")
    }

    @Test(
        arguments: [
            nil, "", "[]", #"{"preferred_username":"noa"}"#, #"{"sub":"s-2","preferred_username":"eve"}"#,
            #"{"sub":"S-1","preferred_username":"eve"}"#, #"{"sub":["s-1"],"preferred_username":"eve"}"#,
            #"{"sub":"s-1","preferred_username":"a\u0000b"}"#, "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
        ]
    )
    func `a sign-in is complete without a name, and takes none of another user`(body: String?) async throws {
        let issuer = try issuer(answering: body)
        let result = try await signIn(at: issuer)
        #expect(result.account.username.isEmpty)
        #expect(issuer.issuer.forms(Self.path).count == 1)
        await #expect(try issuer.store.accounts().map(\.username) == [""])
    }

    @Test func `an issuer whose ID token has a name is not asked`() async throws {
        let issuer = try issuer(answering: #"{"sub":"s-1","preferred_username":"noa"}"#)
        let account = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) }.account
        #expect(account.username == "Noa Vidal")
        // The issuer knows nobody by that, and two accounts of a person share it.
        #expect(account.loginHint == nil)
        #expect(issuer.issuer.forms(Self.path).isEmpty)
    }

    @Test(arguments: ["https://id.example/userinfo", "http://id.example/userinfo", "userinfo", ""])
    func `an access token goes to no other network than its issuer's`(address: String) async throws {
        #expect(try await signIn(at: issuer(at: address)).account.username.isEmpty)
    }
}
