import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct NativeSignInTests {
    @Test func `N01: a code is announced, masked and sent once`() async throws {
        try await Site.open { site in
            let answer = try await site.challenged("otp-app", Site.bo)
            #expect(answer["challenge_type"] == "oob")
            #expect(answer["challenge_channel"] == "email")
            #expect(answer["code_length"] == 8)
            #expect(answer["challenge_target_label"] == "b***o@e***e.org")
            #expect(site.provider.outbox.messages().count == 1)
            #expect(!answer.text.contains(try site.code(to: Site.bo)))
            #expect(site.requests(to: "initiate") == 1)
            #expect(site.requests(to: "challenge") == 1)
        }
    }

    @Test func `N02: the right code gives an ID token, a refresh token and one access token`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithCode()
            #expect(answer.status == 200)
            let claims = try answer.claims(of: "id_token")
            #expect(claims["preferred_username"] == "bo@example.org")
            #expect(claims["aud"] == "otp-app")
            #expect(claims["exp"].seconds == 1_790_003_600)
            #expect(try !answer.text("refresh_token").isEmpty)
            #expect(answer["scope"] == "openid profile offline_access")
            #expect(answer["expires_in"] == 3600)
            let info = try JSONValue(parsing: Answer.base64URL(answer.text("client_info")))
            #expect(info["uid"] == claims["oid"])
            #expect(info["utid"] == claims["tid"])
        }
    }

    @Test func `N03: a wrong code leaves the same token good for the right one`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            let form = ["grant_type": "oob", "continuation_token": token]
            let wrong = try await site.token("otp-app", form.merging(["oob": site.wrongCode(to: Site.bo)]) { $1 })
            #expect(wrong.status == 400)
            #expect(wrong.error == "invalid_grant")
            #expect(wrong.suberror == "invalid_oob_value")
            #expect(wrong.number == 50181)
            let right = try await site.token("otp-app", form.merging(["oob": site.code(to: Site.bo)]) { $1 })
            #expect(right.status == 200)
        }
    }

    @Test func `N04: an empty code is refused and costs nothing`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            let form = ["grant_type": "oob", "continuation_token": token]
            for _ in 1...6 {
                let empty = try await site.token("otp-app", form.merging(["oob": ""]) { $1 })
                #expect(empty.error == "invalid_request")
                #expect(empty.number == 90100)
            }
            let right = try await site.token("otp-app", form.merging(["oob": site.code(to: Site.bo)]) { $1 })
            #expect(right.status == 200)
        }
    }

    @Test func `N05: a resend voids the first code`() async throws {
        try await Site.open { site in
            let first = try await site.challenged("otp-app", Site.bo).token
            let firstCode = try site.code(to: Site.bo)
            let second = try await site.challenge("otp-app", first).token
            #expect(site.provider.outbox.messages(to: Site.bo).count == 2)
            let form = ["grant_type": "oob", "continuation_token": second]
            let old = try await site.token("otp-app", form.merging(["oob": firstCode]) { $1 })
            let secondCode = try site.code(to: Site.bo)
            #expect(old.suberror == "invalid_oob_value" || firstCode == secondCode)
            let new = try await site.token("otp-app", form.merging(["oob": site.code(to: Site.bo)]) { $1 })
            #expect(new.status == 200)
        }
    }

    @Test func `N05: the sixth resend is refused`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            for _ in 1...5 { #expect(try await site.challenge("otp-app", token).status == 200) }
            #expect(try await site.challenge("otp-app", token).error == "invalid_request")
        }
    }

    @Test(arguments: [(360.0, "invalid_grant", 50181), (660.0, "expired_token", 552_003)])
    func `N06: the code dies before the flow does`(seconds: Double, error: String, number: Int) async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            site.provider.clock.advance(by: seconds)
            let form = try ["grant_type": "oob", "continuation_token": token, "oob": site.code(to: Site.bo)]
            let late = try await site.token("otp-app", form)
            #expect(late.error == error)
            #expect(late.number == number)
        }
    }

    @Test func `N07: five wrong codes void the right one until a resend`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            let form = ["grant_type": "oob", "continuation_token": token]
            for _ in 1...5 {
                _ = try await site.token("otp-app", form.merging(["oob": site.wrongCode(to: Site.bo)]) { $1 })
            }
            let right = try await site.token("otp-app", form.merging(["oob": site.code(to: Site.bo)]) { $1 })
            #expect(right.suberror == "invalid_oob_value")
            let again = try await site.challenge("otp-app", token).token
            let new = try site.code(to: Site.bo)
            let answer = try await site.token(
                "otp-app",
                ["grant_type": "oob", "continuation_token": again, "oob": new]
            )
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: ["otp-app", "pwd-app"])
    func `N08: an empty username is named as such`(client: String) async throws {
        try await Site.open { site in
            let answer = try await site.initiate(client, "")
            #expect(answer.error == "invalid_request")
            #expect(answer.number == 90100)
            #expect(try answer.text("error_description").contains("username parameter is empty or not valid"))
        }
    }

    @Test func `N09: an unknown address is not found, with the request's correlation id`() async throws {
        try await Site.open { site in
            let id = "6f1c9a52-3d1e-4a1b-9a0c-0f5a6b7c8d9e"
            let form = ["client_id": "otp-app", "username": "nobody@example.org", "challenge_type": "oob redirect"]
            let url = site.tenant + "/oauth2/v2.0/initiate"
            let answer = try await site.post(url, form, headers: ["client-request-id": id])
            #expect(answer.error == "user_not_found")
            #expect(answer.number == 50034)
            #expect(answer["correlation_id"].text == id)
            #expect(answer.header("client-request-id") == id)
            #expect(site.provider.audit.entries.last?.correlationID == id)
        }
    }

    @Test func `N10: a right password signs in with three requests and no message`() async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await site.signInWithPassword().status == 200)
            #expect(site.provider.audit.counts == ["initiate": 1, "challenge": 1, "token": 1])
            #expect(site.provider.audit.summary.contains("requests to token: 1"))
            #expect(site.provider.outbox.messages().isEmpty)
        }
    }

    @Test func `N11: a wrong password is 50126`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithPassword(Site.ana, "wrong")
            #expect(answer.error == "invalid_grant")
            #expect(answer.number == 50126)
            #expect(answer.status == 400)
        }
    }

    @Test func `N11: ten wrong passwords lock for a minute, which looks like an eleventh`() async throws {
        try await Site.open { site in
            for _ in 1...10 { _ = try await site.signInWithPassword(Site.ana, "wrong") }
            #expect(try await site.signInWithPassword().number == 50126)
            site.provider.clock.advance(by: 61)
            #expect(try await site.signInWithPassword().status == 200)
        }
    }

    @Test func `N12: an empty password is refused without counting as wrong`() async throws {
        try await Site.open { (site: Site) async throws in
            for _ in 1...11 { #expect(try await site.signInWithPassword(Site.ana, "").number == 90100) }
            #expect(try await site.signInWithPassword().status == 200)
        }
    }

    @Test func `N13: a wrong password leaves the same token good for the right one`() async throws {
        try await Site.open { site in
            let challenged = try await site.challenged("pwd-app", Site.ana)
            #expect(challenged["challenge_type"] == "password")
            let form = ["grant_type": "password", "continuation_token": try challenged.token, "username": Site.ana]
            #expect(try await site.token("pwd-app", form.merging(["password": "no"]) { $1 }).number == 50126)
            #expect(try await site.token("pwd-app", form.merging(["password": Site.anasPassword]) { $1 }).status == 200)
        }
    }

    @Test func `N14: a client that can take codes is asked for a code`() async throws {
        try await Site.open { site in
            let challenged = try await site.challenged("otp-app", Site.ana)
            #expect(challenged["challenge_type"] == "oob")
            let form = ["grant_type": "password", "continuation_token": try challenged.token, "password": "x"]
            #expect(try await site.token("otp-app", form).number == 55200)
        }
    }

    @Test func `N15: a client that cannot take passwords is sent to the browser`() async throws {
        try await Site.open { site in
            let answer = try await site.initiate("pwd-app", Site.ana, types: "oob redirect")
            #expect(answer.status == 200)
            #expect(answer["challenge_type"] == "redirect")
            #expect(try !answer.text("redirect_reason").isEmpty)
            #expect(try await site.initiate("pwd-app", Site.ana, types: "oob").number == 901_007)
        }
    }
}
