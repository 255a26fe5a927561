import LocalIdentityProvider
import OAuth
import Testing

struct NativeResetTests {
    private static let new = "Cordillera-8-Sur"

    private func start(_ username: String, _ site: Site) async throws -> Answer {
        try await site.reset("start", "pwd-app", ["username": username, "challenge_type": Site.everyType])
    }

    private func codeToken(_ site: Site) async throws -> String {
        let token = try await start(Site.ana, site).token
        return try await site.reset("challenge", "pwd-app", ["continuation_token": token]).token
    }

    private func passwordToken(_ site: Site) async throws -> String {
        let form = try await [
            "continuation_token": codeToken(site), "grant_type": "oob", "oob": site.code(to: Site.ana),
        ]
        return try await site.reset("continue", "pwd-app", form).token
    }

    private func submit(_ password: String, _ token: String, _ site: Site) async throws -> Answer {
        try await site.reset("submit", "pwd-app", ["continuation_token": token, "new_password": password])
    }

    @Test func `N29: a reset is polled until it took effect`() async throws {
        try await Site.open { site in
            let submitted = try await submit(Self.new, passwordToken(site), site)
            #expect(submitted["poll_interval"] == 1)
            let poll = ["continuation_token": try submitted.token]
            for _ in 1...2 {
                #expect(try await site.reset("poll_completion", "pwd-app", poll)["status"] == "in_progress")
            }
            site.provider.clock.advance(by: 1)
            let done = try await site.reset("poll_completion", "pwd-app", poll)
            #expect(done["status"] == "succeeded")
            #expect(done["expires_in"] == 600)
            #expect(try await site.signInWithPassword().number == 50126)
            #expect(try await site.signInWithPassword(Site.ana, Self.new).status == 200)
            let form = try ["grant_type": "continuation_token", "continuation_token": done.token, "username": Site.ana]
            #expect(try await site.token("pwd-app", form).status == 200)
        }
    }

    @Test func `L03: a poll that succeeded may be repeated until the flow has ended`() async throws {
        try await Site.open { site in
            let poll = try await ["continuation_token": submit(Self.new, passwordToken(site), site).token]
            site.provider.clock.advance(by: 1)
            let first = try await site.reset("poll_completion", "pwd-app", poll)
            let second = try await site.reset("poll_completion", "pwd-app", poll)
            #expect(second["status"] == "succeeded")
            var form = try ["grant_type": "continuation_token", "continuation_token": second.token]
            #expect(try await site.token("pwd-app", form).status == 200)
            form["continuation_token"] = try first.token
            #expect(try await site.token("pwd-app", form).number == 55200)
            #expect(try await site.reset("poll_completion", "pwd-app", poll).number == 55200)
        }
    }

    @Test func `N30: a reset ends the refresh tokens from before it`() async throws {
        try await Site.open { site in
            let tokens = try await site.signInWithPassword()
            _ = try await submit(Self.new, passwordToken(site), site)
            site.provider.clock.advance(by: 2)
            let bearer = ["authorization": "Bearer \(try tokens.text("access_token"))"]
            #expect(try await site.get(site.tenant + "/openid/v2.0/userinfo", headers: bearer).status == 401)
            let refused = try await site.refresh(tokens.text("refresh_token"), client: "pwd-app")
            #expect(refused.error == "invalid_grant")
            #expect(refused.suberror == "bad_token")
        }
    }

    @Test func `N31: the current password is refused and the same token stays good`() async throws {
        try await Site.open { site in
            let token = try await passwordToken(site)
            #expect(try await submit(Site.anasPassword, token, site).suberror == "password_recently_used")
            #expect(try await submit(Self.new, token, site).status == 200)
        }
    }

    @Test func `N31: the three passwords before the current one are refused too`() async throws {
        try await Site.open { site in
            for password in ["Primera-1-Vez", "Segunda-2-Vez", "Tercera-3-Vez", "Cuarta-44-Vez"] {
                #expect(try await submit(password, passwordToken(site), site).status == 200)
                site.provider.clock.advance(by: 2)
            }
            let token = try await passwordToken(site)
            #expect(try await submit("Primera-1-Vez", token, site).suberror == "password_recently_used")
            #expect(try await submit(Site.anasPassword, token, site).status == 200)
        }
    }

    @Test func `N32: a user without a password cannot reset it`() async throws {
        try await Site.open { site in
            let answer = try await start(Site.bo, site)
            #expect(answer.error == "invalid_request")
            #expect(answer.number == 500_222)
        }
    }

    @Test func `N33: an unknown and an empty username have two errors`() async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await start("nobody@example.org", site).error == "user_not_found")
            #expect(try await start("", site).number == 90100)
        }
    }

    @Test func `N34: a fault can keep a reset in progress for ever`() async throws {
        try await Site.open { site in
            site.provider.faults.add(
                .answer(body: #"{"status":"in_progress"}"#, at: "resetpassword/poll_completion", times: nil)
            )
            let poll = try await ["continuation_token": submit(Self.new, passwordToken(site), site).token]
            site.provider.clock.advance(by: 5)
            for _ in 1...6 {
                #expect(try await site.reset("poll_completion", "pwd-app", poll)["status"] == "in_progress")
            }
            #expect(site.requests(to: "resetpassword/poll_completion") == 6)
        }
    }

    @Test func `N35: a resend that fails leaves the flow as it was`() async throws {
        try await Site.open { site in
            let token = try await codeToken(site)
            site.provider.faults.add(.status(500, at: "resetpassword/challenge"))
            #expect(try await site.reset("challenge", "pwd-app", ["continuation_token": token]).status == 500)
            let form = try ["continuation_token": token, "grant_type": "oob", "oob": site.code(to: Site.ana)]
            #expect(try await site.reset("continue", "pwd-app", form).status == 200)
        }
    }
}
