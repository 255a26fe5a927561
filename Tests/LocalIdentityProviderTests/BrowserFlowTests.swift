import Foundation
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct BrowserFlowTests {
    private func signedIn(_ site: Site, _ visitor: StepwiseBrowser, _ more: [String: String] = [:]) async throws
        -> Answer
    {
        try await visitor.open(site.authorizeURL(site.susi, more))
        return try await visitor.signIn()
    }

    @Test func `a code with its verifier gives tokens of the user flow`() async throws {
        try await Site.open { site in
            let end = try await signedIn(site, StepwiseBrowser(site))
            #expect(end.status == 302)
            #expect(end.header("location")?.hasPrefix(Site.callback + "?code=") == true)
            #expect(try end.location("state") == "st&te")
            let tokens = try await site.redeem(end.location("code"), site.susi)
            let claims = try tokens.claims(of: "id_token")
            #expect(claims["nonce"] == "n-1")
            #expect(claims["tfp"] == "b2c_1_susi")
            #expect(claims["amr"] == ["pwd"])
            #expect(
                claims["iss"].text == site.provider.baseURL
                    + "/tfp/5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10/b2c_1_susi/v2.0/"
            )
            #expect(tokens["expires_in"] == "3600")
            #expect(tokens["not_before"] == "1790000000")
            #expect(try await JWTCheck(site, path: "/tfp/fabrikvine/b2c_1_susi").verify(tokens.text("id_token")))
        }
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{20DD}"])
    func `a page shows input as text, also when a mark combines with a bracket`(mark: String) async throws {
        try await Site.open { site in
            let given = "\"\(mark)><\(mark)script>'\(mark)&\(mark)"
            let page = try await StepwiseBrowser(site).open(site.authorizeURL(site.susi, ["login_hint": given])).text
            #expect(page.contains("value=\"&quot;\(mark)&gt;&lt;\(mark)script&gt;&#39;\(mark)&amp;\(mark)\""))
        }
    }

    @Test(arguments: [
        ["code_verifier": "another-verifier-of-at-least-forty-three-characters-01"], ["code_verifier": ""],
        ["redirect_uri": "http://127.0.0.1:1/"], ["client_id": "otp-app"],
    ])
    func `a code is refused with another verifier, redirect URI or client`(change: [String: String]) async throws {
        try await Site.open { site in
            let code = try await signedIn(site, StepwiseBrowser(site)).location("code")
            #expect(try await site.redeem(code, site.susi, change).error == "invalid_grant")
        }
    }

    @Test func `a code lives sixty seconds and a replay ends what it began`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let late = try await signedIn(site, visitor).location("code")
            site.provider.clock.advance(by: 60)
            #expect(try await site.redeem(late, site.susi).error == "invalid_grant")
            let code = try await visitor.open(site.authorizeURL(site.susi)).location("code")
            let tokens = try await site.redeem(code, site.susi)
            #expect(try await site.redeem(code, site.susi).error == "invalid_grant")
            let form = try [
                "client_id": "b2c-app", "grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token"),
            ]
            #expect(try await site.post(site.susi + "/oauth2/v2.0/token", form).suberror == "bad_token")
        }
    }

    @Test func `codes and refresh tokens of one user flow are refused at another`() async throws {
        try await Site.open { site in
            let edit = site.susi.replacing("susi", with: "edit")
            let visitor = StepwiseBrowser(site)
            let code = try await signedIn(site, visitor).location("code")
            #expect(try await site.redeem(code, edit).error == "invalid_grant")
            let tokens = try await site.redeem(code, site.susi)
            let form = try [
                "client_id": "b2c-app", "grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token"),
            ]
            #expect(try await site.post(edit + "/oauth2/v2.0/token", form).error == "invalid_grant")
            #expect(try await site.post(site.susi + "/oauth2/v2.0/token", form).status == 200)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "http://127.0.0.1.evil.example/", "http://127.0.0.1:53211/x", "",
        "http://user@127.0.0.1/", "http://127.0.0.1:53211/#x",
    ])
    func `an unregistered redirect URI gets a page and no redirect`(uri: String) async throws {
        try await Site.open { site in
            let answer = try await StepwiseBrowser(site).open(site.authorizeURL(site.susi, ["redirect_uri": uri]))
            #expect(answer.status == 400)
            #expect(answer.header("location") == nil)
            #expect(answer.header("content-type")?.hasPrefix("text/html") == true)
        }
    }

    @Test func `a registered custom scheme is redirected to`() async throws {
        try await Site.open { site in
            let uri = "msauth.com.example.tokenstore://auth"
            let end = try await signedIn(site, StepwiseBrowser(site), ["redirect_uri": uri])
            #expect(end.header("location")?.hasPrefix(uri + "?code=") == true)
        }
    }

    @Test(arguments: [
        (["code_challenge": ""], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
        (["response_type": "token"], "unsupported_response_type"), (["scope": "api://nothing/x"], "invalid_scope"),
        (["prompt": "none"], "login_required"), (["prompt": "none login"], "invalid_request"),
        (["request": "x"], "request_not_supported"), (["max_age": "soon"], "invalid_request"),
    ])
    func `a bad request is answered at the redirect URI`(change: [String: String], error: String) async throws {
        try await Site.open { site in
            let answer = try await StepwiseBrowser(site).open(site.authorizeURL(site.susi, change))
            #expect(try answer.location("error") == error)
            #expect(try answer.location("state") == "st&te")
        }
    }

    @Test func `cancelling answers access_denied`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            #expect(try await visitor.press("cancel").location("error") == "access_denied")
            #expect(try await visitor.press("cancel").status == 400)
        }
    }

    @Test func `a wrong password shows the page again and hides whether the user exists`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            _ = try await visitor.signIn(Site.ana, "wrong")
            let wrong = await visitor.message
            _ = try await visitor.signIn("nobody@example.org", "wrong")
            #expect(await visitor.message == wrong)
            #expect(!wrong.isEmpty)
            #expect(try await visitor.signIn().status == 302)
        }
    }

    @Test func `a user without a password signs in with a code`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            try await visitor.press("send_code", ["username": Site.bo])
            try await visitor.press("submit_code", ["code": site.wrongCode(to: Site.bo)])
            #expect(await visitor.heading == "Enter the code")
            let end = try await visitor.press("submit_code", ["code": site.code(to: Site.bo)])
            #expect(try await site.redeem(end.location("code"), site.susi).claims(of: "id_token")["amr"] == ["otp"])
        }
    }

    @Test func `a scope that needs consent asks for it once`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let scope = "openid offline_access https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            _ = try await signedIn(site, visitor, ["scope": scope])
            #expect(await visitor.heading == "Permissions")
            let end = try await visitor.press("accept")
            let tokens = try await site.redeem(end.location("code"), site.susi)
            #expect(try tokens.claims(of: "access_token")["scp"] == "demo.write")
            #expect(
                try await visitor.open(site.authorizeURL(site.susi, ["scope": scope, "prompt": "none"])).status == 302
            )
        }
    }

    @Test func `N69: an edited profile shows in the new ID token`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let edit = site.susi.replacing("susi", with: "edit")
            try await visitor.open(site.authorizeURL(edit))
            _ = try await visitor.signIn()
            #expect(await visitor.heading == "Edit profile")
            try await visitor.press("save", ["displayName": "Ana R.", "country": "1"])
            #expect(await visitor.message.contains("country"))
            let end = try await visitor.press("save", ["displayName": "Ana R.", "city": "Cuenca"])
            let tokens = try await site.redeem(end.location("code"), edit)
            #expect(try tokens.claims(of: "id_token")["name"] == "Ana R.")
        }
    }

    @Test func `the reset user flow sets a new password`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let reset = site.susi.replacing("susi", with: "reset")
            try await visitor.open(site.authorizeURL(reset))
            try await visitor.press("send_reset", ["username": Site.ana])
            try await visitor.press("submit_code", ["code": site.code(to: Site.ana)])
            try await visitor.press("set_password", ["password": "weak"])
            #expect(await !visitor.message.isEmpty)
            #expect(try await visitor.press("set_password", ["password": "Cordillera-8-Sur"]).status == 302)
            #expect(try await site.signInWithPassword(Site.ana, "Cordillera-8-Sur").status == 200)
        }
    }

    @Test func `a client that wants a second factor gets it in the browser`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            try await visitor.open(site.authorizeURL(site.susi, ["claims": claims]))
            _ = try await visitor.signIn(Site.cleo, Site.cleosPassword)
            #expect(await visitor.heading == "Enter the code")
            let end = try await visitor.press("submit_code", ["code": site.code(to: "cleo.second@example.org")])
            let tokens = try await site.redeem(end.location("code"), site.susi)
            #expect(try tokens.claims(of: "access_token")["acrs"] == ["c1"])
            #expect(try tokens.claims(of: "id_token")["amr"] == ["pwd", "otp", "mfa"])
        }
    }

    @Test func `the answer can come in the fragment or as a posted form`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let fragment = try await signedIn(site, visitor, ["response_mode": "fragment"])
            #expect(fragment.header("location")?.hasPrefix(Site.callback + "#code=") == true)
            let form = try await visitor.open(site.authorizeURL(site.susi, ["response_mode": "form_post"]))
            #expect(form.status == 200)
            #expect(form.text.contains("name=\"state\" value=\"st&amp;te\""))
        }
    }
}
