import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct TokenUseTests {
    private static let read = "api://todolist/ToDoList.Read"

    private func bearer(_ answer: Answer) throws -> [String: String] {
        ["authorization": "Bearer \(try answer.text("access_token"))"]
    }

    private func introspect(_ token: String, _ site: Site, secret: String = "for-development-only") async throws
        -> Answer
    {
        let form = ["client_id": "api-server", "client_secret": secret, "token": token]
        return try await site.post("\(site.tenant)/oauth2/v2.0/introspection", form)
    }

    @Test func `userinfo shows what the scopes allow`() async throws {
        try await Site.open { site in
            let url = site.tenant + "/openid/v2.0/userinfo"
            let small = try await site.signInWithPassword(more: ["scope": "openid"])
            let answer = try await site.get(url, headers: bearer(small))
            #expect(answer["sub"] == (try small.claims(of: "id_token")["sub"]))
            #expect(answer["name"].isNull)
            let large = try await site.signInWithPassword(more: ["scope": "openid profile email"])
            let more = try await site.get(url, headers: bearer(large))
            #expect(more["name"] == "Ana Rojas")
            #expect(more["email"].text == Site.ana)
            #expect(more["loyalty"] == "gold-17")
            let api = try await site.signInWithPassword(more: ["scope": Self.read + " openid"])
            #expect(try await site.get(url, headers: bearer(api)).status == 401)
            #expect(try await site.get(url).header("www-authenticate") == "Bearer")
        }
    }

    @Test func `introspection tells a live token from a revoked one`() async throws {
        try await Site.open { site in
            let tokens = try await site.signInWithPassword()
            for name in ["access_token", "refresh_token"] {
                let live = try await introspect(tokens.text(name), site)
                #expect(live["active"] == true)
                #expect(live["client_id"] == "pwd-app")
            }
            let revoke = try ["client_id": "pwd-app", "token": tokens.text("refresh_token")]
            _ = try await site.post("\(site.tenant)/oauth2/v2.0/revoke", revoke)
            for name in ["access_token", "refresh_token"] {
                #expect(try await introspect(tokens.text(name), site).text == #"{"active":false}"#)
            }
            #expect(try await introspect("x", site)["active"] == false)
        }
    }

    @Test func `introspection is for clients that know their secret`() async throws {
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("access_token")
            #expect(try await introspect(token, site, secret: "wrong").status == 401)
            let form = ["client_id": "pwd-app", "token": token]
            #expect(try await site.post("\(site.tenant)/oauth2/v2.0/introspection", form).status == 401)
            // "api-server:for-development-only"
            let basic = ["authorization": "Basic YXBpLXNlcnZlcjpmb3ItZGV2ZWxvcG1lbnQtb25seQ=="]
            let answer = try await site.post(
                "\(site.tenant)/oauth2/v2.0/introspection",
                ["token": token],
                headers: basic
            )
            #expect(answer["active"] == true)
        }
    }

    @Test func `a public client may show that it has no secret`() async throws {
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            let form = ["grant_type": "refresh_token", "refresh_token": token]
            // "pwd-app:", "pwd-app:x", "pwd-app"
            for (basic, status) in [("cHdkLWFwcDo=", 200), ("cHdkLWFwcDp4", 401), ("cHdkLWFwcA==", 401)] {
                let headers = ["authorization": "Basic \(basic)"]
                let answer = try await site.post("\(site.tenant)/oauth2/v2.0/token", form, headers: headers)
                #expect(answer.status == status, "\(basic)")
            }
        }
    }

    @Test func `a client revokes its own tokens only, and an access token by itself`() async throws {
        try await Site.open { site in
            let tokens = try await site.signInWithPassword()
            let url = "\(site.tenant)/oauth2/v2.0/revoke"
            for name in ["access_token", "refresh_token"] {
                let foreign = try ["client_id": "otp-app", "token": tokens.text(name)]
                #expect(try await site.post(url, foreign).status == 200)
                #expect(try await introspect(tokens.text(name), site)["active"] == true)
            }
            let own = try ["client_id": "pwd-app", "token": tokens.text("access_token")]
            #expect(try await site.post(url, own).status == 200)
            #expect(try await introspect(tokens.text("access_token"), site)["active"] == false)
            #expect(try await site.refresh(tokens.text("refresh_token"), client: "pwd-app").status == 200)
        }
    }

    @Test func `an API refuses a missing token, another issuer's and one without the scope`() async throws {
        try await Site.open { site in
            let api = site.provider.baseURL + "/api1/tasks"
            #expect(try await site.get(api).status == 401)
            let foreign = try await site.signInWithPassword()
            let refused = try await site.get(api, headers: bearer(foreign))
            #expect(refused.status == 401)
            #expect(refused.header("www-authenticate") == #"Bearer error="invalid_token""#)
            let read = try await site.signInWithPassword(more: ["scope": Self.read])
            #expect(try await site.get(api, headers: bearer(read))["scopes"] == "ToDoList.Read")
            #expect(try await site.send("POST", api, headers: bearer(read)).status == 403)
            let forged = try read.text("access_token").dropLast(8) + "AAAAAAAA"
            #expect(try await site.get(api, headers: ["authorization": "Bearer \(forged)"]).status == 401)
        }
    }

    @Test func `an API can give every answer that clients must survive`() async throws {
        try await Site.open { site in
            let read = try await site.signInWithPassword(more: ["scope": Self.read])
            func variant(_ name: String) async throws -> Answer {
                try await site.get("\(site.provider.baseURL)/api1/\(name)", headers: bearer(read))
            }
            #expect(try await variant("notfound").status == 404)
            #expect(try await variant("error").status == 500)
            #expect(try await variant("text").header("content-type") == "text/plain")
            #expect(try await variant("array").text == #"["first","second"]"#)
            let broken = try await variant("broken")
            #expect(throws: (any Error).self) { try JSONValue(parsing: broken.body) }
        }
    }

    @Test func `a device is approved by a person who signs in`() async throws {
        try await Site.open { site in
            let form = ["client_id": "b2c-app", "scope": "openid offline_access"]
            let begun = try await site.post("\(site.tenant)/oauth2/v2.0/devicecode", form)
            let poll = try [
                "client_id": "b2c-app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": begun.text("device_code"),
            ]
            let url = "\(site.tenant)/oauth2/v2.0/token"
            #expect(try await site.post(url, poll).error == "authorization_pending")
            #expect(try await site.post(url, poll).error == "slow_down")
            let visitor = StepwiseBrowser(site)
            try await visitor.open(begun.text("verification_uri_complete"))
            try await visitor.press("enter_code", ["user_code": "nothing"])
            #expect(await visitor.message.contains("No device"))
            let code = try begun.text("user_code")
            try await visitor.press("enter_code", ["user_code": code.lowercased().replacing("-", with: "")])
            _ = try await visitor.signIn()
            #expect(await visitor.page.text.contains("Ana Rojas"))
            try await visitor.press("approve")
            #expect(await visitor.heading == "Connected")
            let tokens = try await site.post(url, poll)
            #expect(try tokens.claims(of: "id_token")["name"] == "Ana Rojas")
            #expect(try await site.post(url, poll).error == "invalid_grant")
        }
    }

    @Test func `a device needs the second factor of its client, and its page names what is agreed to`() async throws {
        try await Site.open { site in
            let scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let form = ["client_id": "mfa-app", "scope": "openid " + scope]
            let begun = try await site.post("\(site.tenant)/oauth2/v2.0/devicecode", form)
            let visitor = StepwiseBrowser(site)
            try await visitor.open(begun.text("verification_uri"))
            try await visitor.press("enter_code", ["user_code": begun.text("user_code")])
            _ = try await visitor.signIn(Site.cleo, Site.cleosPassword)
            #expect(await visitor.heading == "Enter the code")
            // Not at the code's page, and so not approved.
            try await visitor.press("approve")
            #expect(await visitor.heading == "Enter the code")
            try await visitor.press("submit_code", ["code": site.code(to: "cleo.second@example.org")])
            #expect(await visitor.heading == "Connect a device")
            #expect(await visitor.page.text.contains("<li>\(scope)</li>"))
            try await visitor.press("approve")
            let poll = try [
                "client_id": "mfa-app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "device_code": begun.text("device_code"),
            ]
            let tokens = try await site.post("\(site.tenant)/oauth2/v2.0/token", poll)
            #expect(try tokens.claims(of: "id_token")["amr"] == ["pwd", "otp", "mfa"])
        }
    }

    @Test func `a device can be refused, and its code expires`() async throws {
        try await Site.open { site in
            let device = "\(site.tenant)/oauth2/v2.0/devicecode"
            let url = "\(site.tenant)/oauth2/v2.0/token"
            var poll = ["client_id": "b2c-app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code"]
            let refused = try await site.post(device, ["client_id": "b2c-app"])
            let visitor = StepwiseBrowser(site)
            try await visitor.open(refused.text("verification_uri"))
            try await visitor.press("enter_code", ["user_code": refused.text("user_code")])
            try await visitor.press("cancel")
            poll["device_code"] = try refused.text("device_code")
            #expect(try await site.post(url, poll).error == "access_denied")
            poll["device_code"] = try await site.post(device, ["client_id": "b2c-app"]).text("device_code")
            site.provider.clock.advance(by: 900)
            #expect(try await site.post(url, poll).error == "expired_token")
        }
    }
}
