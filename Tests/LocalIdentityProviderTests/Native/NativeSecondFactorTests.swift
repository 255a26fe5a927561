import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct NativeSecondFactorTests {
    private static let both = "mfa_required registration_required"
    private static let toDoRead = "api://todolist/ToDoList.Read"

    private func mfaRequired(_ site: Site, more: [String: String] = [:]) async throws -> Answer {
        try await site.signInWithPassword(
            Site.cleo,
            Site.cleosPassword,
            client: "mfa-app",
            capabilities: Self.both,
            more: more
        )
    }

    private func introspect(_ token: String, _ site: Site) async throws -> Answer {
        try await site.native("oauth2/v2.0/introspect", ["client_id": "mfa-app", "continuation_token": token])
    }

    /// Bo, who has no method, up to the list of what can be registered.
    private func registration(_ site: Site) async throws -> Answer {
        let challenged = try await site.challenged("mfa-app", Site.bo, capabilities: Self.both)
        let form = try [
            "grant_type": "oob", "continuation_token": challenged.token, "oob": site.code(to: Site.bo),
            "scope": "\(Self.toDoRead) openid profile offline_access",
        ]
        let needed = try await site.token("mfa-app", form)
        #expect(needed.suberror == "registration_required")
        return try await site.register("introspect", "mfa-app", ["continuation_token": needed.token])
    }

    private func contact(_ target: String, _ token: String, _ site: Site) async throws -> Answer {
        let form = ["continuation_token": token, "challenge_type": "oob", "challenge_target": target]
        return try await site.register("challenge", "mfa-app", form)
    }

    @Test func `N51: a second factor is asked for, refused once and accepted`() async throws {
        try await Site.open { site in
            let needed = try await mfaRequired(site)
            #expect(needed.error == "invalid_grant")
            #expect(needed.suberror == "mfa_required")
            #expect(needed.number == 50076)
            let listed = try await introspect(needed.token, site)
            let methods = listed["methods"].array ?? []
            #expect(methods.map { $0["id"].text } == ["m-email", "m-sms", "m-blocked"])
            let sent = try await site.challenge("mfa-app", listed.token, id: "m-email")
            let target = "cleo.second@example.org"
            let form = ["grant_type": "mfa_oob", "continuation_token": try sent.token]
            let wrong = try await site.token("mfa-app", form.merging(["oob": site.wrongCode(to: target)]) { $1 })
            #expect(wrong.suberror == "invalid_oob_value")
            let right = try await site.token("mfa-app", form.merging(["oob": site.code(to: target)]) { $1 })
            #expect(right.status == 200)
            #expect(try right.claims(of: "id_token")["amr"] == ["pwd", "otp", "mfa"])
        }
    }

    @Test func `N52: another method may be chosen and only its code works`() async throws {
        try await Site.open { site in
            let listed = try await introspect(mfaRequired(site).token, site)
            let first = try await site.challenge("mfa-app", listed.token, id: "m-email").token
            let second = try await site.challenge("mfa-app", listed.token, id: "m-sms")
            #expect(second["challenge_channel"] == "sms")
            let form = ["grant_type": "oob", "continuation_token": try second.token]
            let old = try site.code(to: "cleo.second@example.org")
            let new = try site.code(to: "+593987654321")
            if old != new {
                let refused = try await site.token("mfa-app", form.merging(["oob": old]) { $1 })
                #expect(refused.suberror == "invalid_oob_value")
            }
            // The first challenge's token names the same step and works with the newest code.
            let answer = try await site.token(
                "mfa-app",
                ["grant_type": "oob", "continuation_token": first, "oob": new]
            )
            #expect(answer.status == 200)
        }
    }

    @Test func `N52: a blocked method is refused and the flow continues`() async throws {
        try await Site.open { site in
            let token = try await introspect(mfaRequired(site).token, site).token
            let blocked = try await site.challenge("mfa-app", token, id: "m-blocked")
            #expect(blocked.error == "access_denied")
            #expect(blocked.suberror == "provider_blocked_by_rep")
            #expect(try await site.challenge("mfa-app", token, id: "m-email").status == 200)
            #expect(try await site.challenge("mfa-app", token, id: "m-other").number == 90100)
        }
    }

    @Test func `N53: a new contact is verified, kept and ends with the scopes asked for first`() async throws {
        try await Site.open { site in
            let listed = try await registration(site)
            #expect(listed["methods"].array?.first?["id"] == "email")
            let sent = try await contact("second@example.org", listed.token, site)
            #expect(sent["challenge_type"] == "oob")
            #expect(sent["challenge_target"] == "second@example.org")
            let form = try [
                "continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: "second@example.org"),
            ]
            let wrong = try site.wrongCode(to: "second@example.org")
            let refused = try await site.register("continue", "mfa-app", form.merging(["oob": wrong]) { $1 })
            #expect(refused.suberror == "invalid_oob_value")
            let token = try await site.register("continue", "mfa-app", form).token
            let last = ["grant_type": "continuation_token", "continuation_token": token]
            let done = try await site.token("mfa-app", last)
            #expect(done["scope"].text == Self.toDoRead)
            let next = try await site.challenged("mfa-app", Site.bo, capabilities: Self.both)
            let again = try [
                "grant_type": "oob", "continuation_token": next.token, "oob": site.code(to: Site.bo),
            ]
            #expect(try await site.token("mfa-app", again).suberror == "mfa_required")
        }
    }

    @Test func `N54: an address verified in the same flow needs no code`() async throws {
        try await Site.open { site in
            let answer = try await contact(Site.bo, registration(site).token, site)
            #expect(answer["challenge_type"] == "preverified")
            let form = ["continuation_token": try answer.token, "grant_type": "continuation_token"]
            let token = try await site.register("continue", "mfa-app", form).token
            let last = ["grant_type": "continuation_token", "continuation_token": token]
            #expect(try await site.token("mfa-app", last).status == 200)
            #expect(site.provider.outbox.messages().count == 1)
        }
    }

    @Test func `N55: malformed and blocked contacts have two errors, and the flow continues`() async throws {
        try await Site.open { site in
            let token = try await registration(site).token
            let malformed = try await contact("+12", token, site)
            #expect(malformed.error == "invalid_request")
            #expect(malformed.number == 901_001)
            let blocked = try await contact("blocked@example.org", token, site)
            #expect(blocked.error == "access_denied")
            #expect(blocked.suberror == "provider_blocked_by_rep")
            #expect(try await contact("+593987000111", token, site).status == 200)
        }
    }

    @Test func `N56: a client that announced nothing is sent to the browser with the reason`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithPassword(Site.cleo, Site.cleosPassword, client: "mfa-app")
            #expect(answer.status == 200)
            #expect(answer["challenge_type"] == "redirect")
            #expect(try answer.text("redirect_reason").contains("mfa_required"))
        }
    }

    @Test(arguments: ["capability", "capabilities"], ["mfa_required,registration_required", both])
    func `either name and separator announces capabilities`(name: String, value: String) async throws {
        try await Site.open { site in
            let form = [
                "client_id": "mfa-app", "username": Site.cleo, "challenge_type": Site.everyType, name: value,
            ]
            let started = try await site.native("oauth2/v2.0/initiate", form)
            let challenged = try await site.challenge("mfa-app", started.token)
            let password = try [
                "grant_type": "password", "continuation_token": challenged.token, "password": Site.cleosPassword,
            ]
            #expect(try await site.token("mfa-app", password).suberror == "mfa_required")
        }
    }
}
