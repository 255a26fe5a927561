import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct LogoutTests {
    private static let back = ["post_logout_redirect_uri": Site.callback, "state": "s&t"]

    /// A browser where Ana is signed in, and her ID token.
    private func signedIn(_ site: Site) async throws -> (visitor: StepwiseBrowser, idToken: String) {
        let visitor = StepwiseBrowser(site)
        try await visitor.open(site.authorizeURL(site.susi))
        let code = try await visitor.signIn().location("code")
        return (visitor, try await site.redeem(code, site.susi).text("id_token"))
    }

    private func logoutURL(_ site: Site, _ parameters: [String: String]) -> String {
        "\(site.susi)/oauth2/v2.0/logout?\(Site.encode(parameters))"
    }

    /// Whether a request without a page finds someone signed in.
    private func isSignedIn(_ visitor: StepwiseBrowser, _ site: Site) async throws -> Bool {
        let answer = try await visitor.open(site.authorizeURL(site.susi, ["prompt": "none"]))
        return answer.header("location")?.contains("code=") == true
    }

    @Test func `the metadata names the logout endpoint`() async throws {
        try await Site.open { site in
            let metadata = try await site.get(site.susi + "/v2.0/.well-known/openid-configuration")
            let tenant = "\(site.provider.baseURL)/tfp/5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"
            #expect(try metadata.text("end_session_endpoint") == tenant + "/b2c_1_susi/oauth2/v2.0/logout")
        }
    }

    @Test func `with the ID token of the session a logout asks nothing and returns with the state`() async throws {
        try await Site.open { site in
            let (visitor, idToken) = try await signedIn(site)
            // One that has expired names the session as well.
            site.provider.clock.advance(by: 7_200)
            let parameters = Self.back.merging(["id_token_hint": idToken]) { $1 }
            let answer = try await visitor.open(logoutURL(site, parameters))
            #expect(answer.header("location") == Site.callback + "?state=s%26t")
            #expect(answer.headers.contains { $0.0 == "set-cookie" && $0.1.hasPrefix("idp_session=;") })
            #expect(try await !isSignedIn(visitor, site))
        }
    }

    @Test func `a logout ends the session of the person in the ID token alone`() async throws {
        try await Site.open { site in
            let (visitor, idToken) = try await signedIn(site)
            try await visitor.open(site.authorizeURL(site.susi, ["prompt": "login"]))
            _ = try await visitor.signIn(Site.cleo, Site.cleosPassword)
            try await visitor.open(logoutURL(site, ["id_token_hint": idToken]))
            #expect(await visitor.heading == "Signed out")
            let left = try await visitor.open(site.authorizeURL(site.susi, ["prompt": "none"]))
            let tokens = try await site.redeem(left.location("code"), site.susi)
            #expect(try tokens.claims(of: "id_token")["name"] == "Cleo Vega")
        }
    }

    @Test func `without an ID token the person is asked, and may stay signed in`() async throws {
        try await Site.open { site in
            let (visitor, _) = try await signedIn(site)
            let url = logoutURL(site, Self.back.merging(["client_id": "b2c-app"]) { $1 })
            try await visitor.open(url)
            #expect(await visitor.heading == "Sign out")
            try await visitor.press("cancel")
            #expect(try await isSignedIn(visitor, site))
            try await visitor.open(url)
            #expect(try await visitor.press("sign_out").header("location") == Site.callback + "?state=s%26t")
            #expect(try await !isSignedIn(visitor, site))
        }
    }

    @Test(
        arguments: [
            ["client_id": "b2c-app", "post_logout_redirect_uri": "https://evil.example/"],
            ["client_id": "b2c-app", "post_logout_redirect_uri": Site.callback + "more"],
            ["client_id": "api-server", "post_logout_redirect_uri": Site.callback],
            ["post_logout_redirect_uri": Site.callback], ["id_token_hint": "a.b.c"],
        ]
    )
    func `a logout to an address that is not the client's, or with a false token, is refused`(
        parameters: [String: String]
    ) async throws {
        try await Site.open { site in
            let (visitor, _) = try await signedIn(site)
            let answer = try await visitor.open(logoutURL(site, parameters))
            #expect(answer.status == 400)
            #expect(answer.header("location") == nil)
            #expect(try await isSignedIn(visitor, site))
        }
    }

    @Test func `the ID token of another client or issuer is refused`() async throws {
        try await Site.open { site in
            let (visitor, idToken) = try await signedIn(site)
            let other = ["id_token_hint": idToken, "client_id": "pwd-app"]
            #expect(try await visitor.open(logoutURL(site, other)).status == 400)
            let tenant = "\(site.tenant)/oauth2/v2.0/logout?\(Site.encode(["id_token_hint": idToken]))"
            #expect(try await visitor.open(tenant).status == 400)
            #expect(try await isSignedIn(visitor, site))
        }
    }

    @Test func `a seed can name other addresses for the way back from a logout`() async throws {
        var seed = try Seed.standard
        for index in seed.tenants[0].clients.indices {
            seed.tenants[0].clients[index].postLogoutRedirectURIs = ["http://127.0.0.1/bye"]
        }
        try await Site.open(seed: seed) { site in
            let (visitor, idToken) = try await signedIn(site)
            let refused = Self.back.merging(["id_token_hint": idToken]) { $1 }
            #expect(try await visitor.open(logoutURL(site, refused)).status == 400)
            let bye = ["id_token_hint": idToken, "post_logout_redirect_uri": "http://127.0.0.1:8123/bye"]
            #expect(try await visitor.open(logoutURL(site, bye)).header("location") == "http://127.0.0.1:8123/bye")
        }
    }
}
