import LocalIdentityProvider
import Testing

struct ContinuationTokenTests {
    @Test func `N60: a token of one flow is refused in another and with another client`() async throws {
        try await Site.open { site in
            let signIn = try await site.challenged("otp-app", Site.bo).token
            let signUp = try await site.startSignUp("otp-app", "new@example.org").token
            let sent = try await site.challengeSignUp("otp-app", signUp)
            let code = try ["grant_type": "oob", "oob": site.code(to: Site.bo)]
            let crossed = try await site.signUp(
                "continue",
                "otp-app",
                code.merging(["continuation_token": signIn]) { $1 }
            )
            #expect(crossed.error == "invalid_request")
            #expect(crossed.number == 55200)
            let form = code.merging(["continuation_token": signIn]) { $1 }
            #expect(try await site.token("mfa-app", form).error == "invalid_grant")
            #expect(try await site.token("otp-app", form).status == 200)
            let own = try [
                "continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: "new@example.org"),
            ]
            #expect(try await site.signUp("continue", "otp-app", own).status == 200)
        }
    }

    @Test func `N61: a token that succeeded is refused afterwards`() async throws {
        try await Site.open { site in
            let signUp = try await site.startSignUp("otp-app", "new@example.org").token
            let sent = try await site.challengeSignUp("otp-app", signUp)
            let form = try [
                "continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: "new@example.org"),
            ]
            #expect(try await site.signUp("continue", "otp-app", form).status == 200)
            let again = try await site.signUp("continue", "otp-app", form)
            #expect(again.error == "invalid_request")
            #expect(again.number == 55200)
        }
    }

    @Test func `N61: a token request spends its token`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            let form = try ["grant_type": "oob", "continuation_token": token, "oob": site.code(to: Site.bo)]
            #expect(try await site.token("otp-app", form).status == 200)
            #expect(try await site.token("otp-app", form).number == 55200)
            #expect(try await site.challenge("otp-app", token).error == "invalid_grant")
        }
    }

    @Test func `a token is good for its own step only`() async throws {
        try await Site.open { site in
            let started = try await site.initiate("otp-app", Site.bo).token
            let early = ["grant_type": "oob", "continuation_token": started, "oob": "00000000"]
            #expect(try await site.token("otp-app", early).number == 55200)
            let form = ["client_id": "otp-app", "continuation_token": started]
            #expect(try await site.native("oauth2/v2.0/introspect", form).number == 55200)
        }
    }

    @Test func `sixteen submissions of one right code give tokens once`() async throws {
        try await Site.open { site in
            let token = try await site.challenged("otp-app", Site.bo).token
            let form = try ["grant_type": "oob", "continuation_token": token, "oob": site.code(to: Site.bo)]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...16 { group.addTask { try await site.token("otp-app", form).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
        }
    }

    @Test func `an unknown client and one without native authentication get two errors`() async throws {
        try await Site.open { site in
            #expect(try await site.initiate("nobody", Site.bo).error == "unauthorized_client")
            let disabled = try await site.initiate("b2c-app", Site.bo)
            #expect(disabled.error == "invalid_client")
            #expect(disabled.suberror == "nativeauthapi_disabled")
            for id in ["", "not an id!"] {
                let malformed = try await site.initiate(id, Site.bo)
                #expect(malformed.number == 90100)
                #expect(try malformed.text("error_description").contains("client_id parameter"))
            }
        }
    }

    @Test(arguments: ["fabrikvine", "fabrikvine.onmicrosoft.com", "5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"])
    func `a tenant answers under each of its three names`(name: String) async throws {
        try await Site.open { (site: Site) async throws in
            let form = ["client_id": "otp-app", "username": Site.bo, "challenge_type": "oob redirect"]
            let url = "\(site.provider.baseURL)/\(name)/oauth2/v2.0/initiate"
            #expect(try await site.post(url, form).status == 200)
        }
    }
}
