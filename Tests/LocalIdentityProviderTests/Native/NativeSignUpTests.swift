import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct NativeSignUpTests {
    private static let new = "eva.mora@example.org"
    private static let password = "Llanura-5-Viento"

    /// Goes on to the country page of the password client.
    private func countryPage(_ site: Site) async throws -> Answer {
        let started = try await site.startSignUp("pwd-app", Self.new)
        let sent = try await site.challengeSignUp("pwd-app", started.token)
        let form = try ["continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: Self.new)]
        let asked = try await site.signUp("continue", "pwd-app", form)
        #expect(asked.error == "credential_required")
        #expect(asked.number == 55103)
        let expected = try await site.challengeSignUp("pwd-app", asked.token)
        #expect(expected["challenge_type"] == "password")
        return try await site.signUp(
            "continue",
            "pwd-app",
            ["continuation_token": expected.token, "grant_type": "password", "password": Self.password]
        )
    }

    private func submit(_ attributes: String, _ token: String, _ site: Site) async throws -> Answer {
        let form = ["continuation_token": token, "grant_type": "attributes", "attributes": attributes]
        return try await site.signUp("continue", "pwd-app", form)
    }

    private func codeSignUp(_ site: Site) async throws -> Answer {
        let started = try await site.startSignUp("otp-app", Self.new)
        let sent = try await site.challengeSignUp("otp-app", started.token)
        let form = try ["continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: Self.new)]
        return try await site.signUp("continue", "otp-app", form)
    }

    @Test func `N16: a code alone makes a user without a password`() async throws {
        try await Site.open { site in
            let done = try await codeSignUp(site)
            #expect(done.status == 200)
            #expect(try !done.token.isEmpty)
            #expect(try await site.challenged("pwd-app", Self.new)["challenge_type"] == "oob")
        }
    }

    @Test func `N17: the token of a sign-up signs in without another code`() async throws {
        try await Site.open { site in
            let token = try await codeSignUp(site).token
            let form = ["grant_type": "continuation_token", "continuation_token": token, "username": Self.new]
            let answer = try await site.token("otp-app", form)
            #expect(answer.status == 200)
            #expect(try answer.claims(of: "id_token")["preferred_username"].text == Self.new)
            #expect(site.provider.outbox.messages().count == 1)
        }
    }

    @Test func `N18: a fault can drop the token from a completed sign-up`() async throws {
        try await Site.open { site in
            site.provider.faults.add(.answer(body: "{}", at: "signup/continue", takesEffect: true))
            let done = try await codeSignUp(site)
            #expect(done.status == 200)
            #expect(done.text == "{}")
            #expect(try await site.initiate("otp-app", Self.new).status == 200)
        }
    }

    @Test func `N19: password and attributes at the start leave one code to enter`() async throws {
        try await Site.open { site in
            let attributes = #"{"country":"Ecuador","city":"Loja","shoeSize":"44"}"#
            let form = ["password": Self.password, "attributes": attributes]
            let started = try await site.startSignUp("pwd-app", Self.new, form)
            let sent = try await site.challengeSignUp("pwd-app", started.token)
            let code = try ["continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: Self.new)]
            #expect(try await site.signUp("continue", "pwd-app", code).status == 200)
            #expect(try await site.signInWithPassword(Self.new, Self.password).status == 200)
        }
    }

    @Test func `N20: a sign-up with nothing but a name is asked for each page in turn`() async throws {
        try await Site.open { site in
            let country = try await countryPage(site)
            #expect(country.error == "attributes_required")
            #expect(country.number == 55106)
            let city = try await submit(#"{"country":"Peru"}"#, country.token, site)
            #expect(city["required_attributes"].array?.compactMap { $0["name"].text } == ["city"])
            let done = try await submit(#"{"city":"Cusco"}"#, city.token, site)
            #expect(done.status == 200)
            #expect(site.requests(to: "signup/challenge") == 2)
        }
    }

    @Test func `N21: an unrelated attribute returns the same list and a new token`() async throws {
        try await Site.open { site in
            let country = try await countryPage(site)
            let again = try await submit(#"{"jobTitle":"Baker"}"#, country.token, site)
            #expect(again.error == "attributes_required")
            #expect(again["required_attributes"] == country["required_attributes"])
            #expect(try again.token != country.token)
        }
    }

    @Test func `N22: a refused value leaves the same token good`() async throws {
        try await Site.open { site in
            let token = try await countryPage(site).token
            let refused = try await submit(#"{"country":"1"}"#, token, site)
            #expect(refused.error == "invalid_grant")
            #expect(refused.suberror == "attribute_validation_failed")
            #expect(refused["invalid_attributes"] == [["name": "country"]])
            #expect(try await submit(#"{"country":"Chile"}"#, token, site).error == "attributes_required")
        }
    }

    @Test func `N23: a refused value at the start sends nothing`() async throws {
        try await Site.open { site in
            let refused = try await site.startSignUp("pwd-app", Self.new, ["attributes": #"{"country":"1"}"#])
            #expect(refused.suberror == "attribute_validation_failed")
            #expect(refused["continuation_token"].isNull)
            #expect(site.provider.outbox.messages().isEmpty)
        }
    }

    @Test func `N24: a registered address is refused`() async throws {
        try await Site.open { site in
            let answer = try await site.startSignUp("pwd-app", "Ana.Rojas@Example.org")
            #expect(answer.error == "user_already_exists")
            #expect(answer.number == 1_003_037)
        }
    }

    @Test(arguments: ["nobody", "a@b", "a b@example.org", "@example.org", "a@.org"])
    func `N25: a malformed address is named as such`(address: String) async throws {
        try await Site.open { site in
            let answer = try await site.startSignUp("pwd-app", address)
            #expect(answer.error == "invalid_request")
            #expect(answer.number == 90100)
            #expect(try answer.text("error_description").contains("username parameter is empty or not valid"))
        }
    }

    @Test(arguments: [
        ("Sh0rt-a", "password_too_short"), (String(repeating: "Aa1-", count: 65), "password_too_long"),
        ("alllowercase", "password_too_weak"), ("Contraseña-1", "password_is_invalid"),
        ("P4ssw0rd-2026", "password_banned"), ("Eva.Mora-2026", "password_banned"),
    ])
    func `N26: each bad password has its reason`(password: String, reason: String) async throws {
        try await Site.open { site in
            let answer = try await site.startSignUp("pwd-app", Self.new, ["password": password])
            #expect(answer.error == "invalid_grant")
            #expect(answer.suberror == reason)
            #expect((answer.number == 399_246) == (reason == "password_too_weak"))
        }
    }

    @Test func `N27: a weak password at its step leaves the same token good`() async throws {
        try await Site.open { site in
            let started = try await site.startSignUp("pwd-app", Self.new)
            let sent = try await site.challengeSignUp("pwd-app", started.token)
            let code = try ["continuation_token": sent.token, "grant_type": "oob", "oob": site.code(to: Self.new)]
            let asked = try await site.signUp("continue", "pwd-app", code)
            let token = try await site.challengeSignUp("pwd-app", asked.token).token
            let form = ["continuation_token": token, "grant_type": "password"]
            let weak = try await site.signUp("continue", "pwd-app", form.merging(["password": "weakweak"]) { $1 })
            #expect(weak.suberror == "password_too_weak")
            let good = try await site.signUp("continue", "pwd-app", form.merging(["password": Self.password]) { $1 })
            #expect(good.error == "attributes_required")
        }
    }

    @Test func `N28: a required attribute comes with name, type and regex`() async throws {
        try await Site.open { site in
            let attribute = try await countryPage(site)["required_attributes"].array?.first
            let expected: JSONValue = [
                "name": "country", "type": "string", "required": true, "options": ["regex": "^[A-Za-z ]{2,60}$"],
            ]
            #expect(attribute == expected)
        }
    }

    @Test func `attributes before the address is verified are refused`() async throws {
        try await Site.open { site in
            let started = try await site.startSignUp("pwd-app", Self.new)
            let token = try await site.challengeSignUp("pwd-app", started.token).token
            let early = try await submit(#"{"country":"Peru"}"#, token, site)
            #expect(early.error == "verification_required")
            #expect(early["unverified_attributes"] == [["name": "email"]])
        }
    }

    @Test func `two sign-ups of one address make one user`() async throws {
        try await Site.open { site in
            let started = try await site.startSignUp("otp-app", Self.new)
            let token = try await site.challengeSignUp("otp-app", started.token).token
            let form = try ["continuation_token": token, "grant_type": "oob", "oob": site.code(to: Self.new)]
            let outcomes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...8 { group.addTask { try await site.signUp("continue", "otp-app", form).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == 200 }.count == 1)
        }
    }
}
