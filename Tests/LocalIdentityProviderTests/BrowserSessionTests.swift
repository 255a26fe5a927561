import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct BrowserSessionTests {
    private func signedIn(_ site: Site, _ visitor: StepwiseBrowser, _ more: [String: String] = [:]) async throws
        -> Answer
    {
        try await visitor.open(site.authorizeURL(site.susi, more))
        return try await visitor.signIn()
    }

    @Test func `another browser cannot post to a journey`() async throws {
        try await Site.open { site in
            let victim = StepwiseBrowser(site)
            try await victim.open(site.authorizeURL(site.susi))
            let form = await [
                "interaction": victim.interaction, "action": "sign_in", "username": Site.ana,
                "password": Site.anasPassword,
            ]
            let stranger = try await site.post(site.susi + "/oauth2/v2.0/authorize", form)
            #expect(stranger.status == 400)
            #expect(stranger.header("location") == nil)
            #expect(try await victim.signIn().status == 302)
        }
    }

    @Test func `a session signs in at once, asks again for login and chooses for select_account`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            _ = try await signedIn(site, visitor)
            #expect(try await visitor.open(site.authorizeURL(site.susi)).status == 302)
            #expect(try await visitor.open(site.authorizeURL(site.susi, ["prompt": "none"])).location("code") != "")
            try await visitor.open(site.authorizeURL(site.susi, ["prompt": "login"]))
            #expect(await visitor.heading == "Sign in")
            _ = try await visitor.signIn(Site.cleo, Site.cleosPassword)
            try await visitor.open(site.authorizeURL(site.susi, ["prompt": "select_account"]))
            #expect(await visitor.heading == "Choose an account")
            let page = await visitor.page.text
            #expect(page.contains("Ana Rojas"))
            #expect(page.contains("Cleo Vega"))
            let ana = "0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1"
            let end = try await visitor.press("choose", ["account": ana])
            #expect(try await site.redeem(end.location("code"), site.susi).claims(of: "id_token")["oid"].text == ana)
            let hinted = try await visitor.open(site.authorizeURL(site.susi, ["login_hint": Site.cleo]))
            let tokens = try await site.redeem(hinted.location("code"), site.susi)
            #expect(try tokens.claims(of: "id_token")["name"] == "Cleo Vega")
        }
    }

    @Test func `max_age asks again when the sign-in is too old`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            _ = try await signedIn(site, visitor)
            site.provider.clock.advance(by: 100)
            #expect(try await visitor.open(site.authorizeURL(site.susi, ["max_age": "200"])).status == 302)
            try await visitor.open(site.authorizeURL(site.susi, ["max_age": "50"]))
            #expect(await visitor.heading == "Sign in")
        }
    }

    @Test func `a password reset ends what was begun before it, in every browser and on every device`() async throws {
        try await Site.open { site in
            let (thief, halfway, owner) = (StepwiseBrowser(site), StepwiseBrowser(site), StepwiseBrowser(site))
            let code = try await signedIn(site, thief).location("code")
            let scope = "openid https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            _ = try await signedIn(site, halfway, ["scope": scope])
            #expect(await halfway.heading == "Permissions")
            let begun = try await site.post("\(site.susi)/oauth2/v2.0/devicecode", ["client_id": "b2c-app"])
            let device = StepwiseBrowser(site)
            try await device.open(begun.text("verification_uri"))
            try await device.press("enter_code", ["user_code": begun.text("user_code")])
            _ = try await device.signIn()
            try await device.press("approve")
            #expect(await device.heading == "Connected")

            site.provider.clock.advance(by: 1)
            try await owner.open(site.authorizeURL(site.susi.replacing("susi", with: "reset")))
            try await owner.press("send_reset", ["username": Site.ana])
            try await owner.press("submit_code", ["code": site.code(to: Site.ana)])
            #expect(try await owner.press("set_password", ["password": "Cordillera-8-Sur"]).status == 302)

            let silent = try await thief.open(site.authorizeURL(site.susi, ["prompt": "none"]))
            #expect(try silent.location("error") == "login_required")
            try await thief.open(site.authorizeURL(site.susi))
            #expect(await thief.heading == "Sign in")
            #expect(try await site.redeem(code, site.susi).error == "invalid_grant")
            #expect(try await halfway.press("accept").status == 400)
            let poll = try [
                "client_id": "b2c-app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": begun.text("device_code"),
            ]
            #expect(try await site.post("\(site.susi)/oauth2/v2.0/token", poll).error == "invalid_grant")
            // Where the password was reset, the person is signed in.
            #expect(try await owner.open(site.authorizeURL(site.susi, ["prompt": "none"])).location("code") != "")
        }
    }

    @Test func `a page escapes what it is given`() async throws {
        try await Site.open { site in
            let hint = "\"><script>alert(1)</script>@example.org"
            let page = try await StepwiseBrowser(site).open(site.authorizeURL(site.susi, ["login_hint": hint]))
            #expect(!page.text.contains("<script>"))
            #expect(page.text.contains("&lt;script&gt;"))
            #expect(page.header("content-security-policy")?.contains("default-src 'none'") == true)
        }
    }
}
