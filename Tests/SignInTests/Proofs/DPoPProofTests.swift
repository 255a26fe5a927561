import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// What the provider does not take for a proof, so that the other tests mean something.
struct DPoPProofTests {
    enum Flaw: CaseIterable {
        case none, method, address, token, past, future, otherKey, tampered
    }

    @Test(arguments: Flaw.allCases)
    func `an API takes a proof only for its own request, token, time and key`(flaw: Flaw) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let signedIn = try await scene.signIn()
            let key = try DPoPKey(#require(try scene.key(signedIn.account.id)))
            let token = try #require(signedIn.accessToken?.secret)
            let url = scene.provider.baseURL + "/api1/tasks"
            let proven = HTTPRequest(flaw == .method ? "POST" : "GET", flaw == .address ? url + "/x" : url)
            let now = Int64(SignInScene.start.timeIntervalSince1970)
            var proof = try (flaw == .otherKey ? DPoPKey() : key).proof(
                of: proven,
                accessToken: flaw == .token ? Secret("other") : token,
                at: now + (flaw == .past ? -600 : flaw == .future ? 600 : 0)
            )
            if flaw == .tampered { proof = String(proof.dropLast(4)) + "AAAA" }
            let headers: HTTPHeaders = ["authorization": "DPoP \(token.reveal())", "dpop": proof]
            let request = HTTPRequest("GET", url + "?page=1", headers: headers)
            let response = try await SignInScene.transport.send(request, limits: .webAPI)
            #expect(response.status == (flaw == .none ? 200 : 401))
            // The same proof again.
            #expect(try await SignInScene.transport.send(request, limits: .webAPI).status == 401)
        }
    }

    @Test func `a stolen refresh token is refused without its key, and the session lives on`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let tokens = try await scene.store.refreshTokens(of: account.id, client: "b2c-app")
            let stolen = try #require(tokens.first?.secret)
            var form = FormParameters()
            form.append("client_id", "b2c-app")
            form.append("refresh_token", stolen)
            let url = try scene.scene.authority().url + "/oauth2/v2.0/token"
            let bare = SignInScene.transport
            let now = Int64(SignInScene.start.timeIntervalSince1970)
            let other = DPoPTransport(DPoPKey(), servers: DPoPServers(), transport: bare) { now }
            for transport in [bare, other] as [any HTTPTransport] {
                let endpoint = TokenEndpoint(url, transport: transport)
                await #expect(throws: OAuthError.self) { try await endpoint.send(.refreshToken, form, now: 0) }
            }
            #expect(scene.outcomes("token") == ["200", "invalid_grant", "invalid_grant"])
            scene.expire()
            #expect(try await scene.call(account).status == 200)
        }
    }

    @Test func `a proof names the address as RFC 9449 has it`() throws {
        let addresses = [
            ("https://API.example.com:443/a/b?c=d#e", "https://api.example.com/a/b"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ]
        for (url, target) in addresses {
            let proof = try DPoPKey().proof(of: HTTPRequest("PUT", url), nonce: "n", at: 7)
            let parts = try proof.split(separator: ".").map { try #require(Base64URL.decode($0.utf8)) }
            let claims = try JSONValue(parsing: String(decoding: parts[1], as: UTF8.self)).object
            #expect(claims?["htu"]?.text == target)
            #expect(claims?["htm"]?.text == "PUT")
            #expect(claims?["nonce"]?.text == "n")
            #expect(claims?["iat"]?.seconds == 7)
            #expect(claims?["ath"] == nil)
            let header = try JSONValue(parsing: String(decoding: parts[0], as: UTF8.self)).object
            #expect(header?["typ"]?.text == "dpop+jwt")
            #expect(header?["jwk"]?.object?["d"] == nil)
        }
    }

    @Test func `a key whose thumbprint is another's is not used`() {
        let stored = BoundKey(thumbprint: DPoPKey().thumbprint, secret: DPoPKey().stored.secret)
        #expect(throws: DPoPError.badKey) { try DPoPKey(stored) }
    }
}
