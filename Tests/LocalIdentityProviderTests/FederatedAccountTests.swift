import Foundation
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct FederatedAccountTests {
    private static let finn = "0b8f7a9e-4444-4c7d-9c1e-d4d4d4d4d4d4"

    @Test func `a person of another identity provider signs in there, and the tokens name it`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            try await visitor.press("", ["provider": "facebook.com"])
            #expect(await visitor.heading == "Sign in at facebook.com")
            let end = try await visitor.press("", ["account": Self.finn])
            let tokens = try await site.redeem(end.location("code"), site.susi)
            let claims = try tokens.claims(of: "id_token")
            #expect(claims["idp"] == "facebook.com")
            #expect(claims["name"] == "Finn Aalto")
            #expect(try tokens.claims(of: "access_token")["idp"] == "facebook.com")
        }
    }

    @Test func `the tokens of a local account name no identity provider`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            let tokens = try await site.redeem(visitor.signIn().location("code"), site.susi)
            #expect(try tokens.claims(of: "id_token")["idp"].isNull)
        }
    }

    @Test func `domain_hint leads to the identity provider at once`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi, ["domain_hint": "facebook.com"]))
            #expect(await visitor.heading == "Sign in at facebook.com")
            try await visitor.open(site.authorizeURL(site.susi, ["domain_hint": "elsewhere.example"]))
            #expect(await visitor.heading == "Sign in")
        }
    }

    @Test(arguments: ["sign_in", "send_code"])
    func `a person of another identity provider has no password and gets no code here`(action: String) async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            try await visitor.press(action, ["username": "finn@example.net", "password": ""])
            #expect(await visitor.heading == "Sign in")
            #expect(await visitor.message.contains("wrong"))
            #expect(site.provider.outbox.messages().isEmpty)
        }
    }

    @Test func `a seed with a password for a person of another identity provider is refused`() throws {
        let text = Seed.standardJSON.replacing(
            #""identityProvider": "facebook.com","#,
            with: #""identityProvider": "facebook.com", "password": "Quinoa-7-Lunas","#
        )
        #expect(throws: StartError.self) { try Seed(json: Data(text.utf8)) }
    }

    @Test func `a sign-in policy forwards a forgotten password to the app, in the service's words`() async throws {
        try await Site.open { site in
            let visitor = StepwiseBrowser(site)
            let policy = site.susi.replacing("b2c_1_susi", with: "b2c_1_signin")
            try await visitor.open(site.authorizeURL(policy))
            let answer = try await visitor.press("forgot")
            #expect(try answer.location("error") == "access_denied")
            #expect(try answer.location("error_description").hasPrefix("AADB2C90118: "))
            #expect(try answer.location("state") == "st&te")
        }
    }

    @Test func `the Date header of every answer follows the clock of the provider`() async throws {
        try await Site.open { (site: Site) async throws in
            let keys = site.tenant + "/discovery/v2.0/keys"
            #expect(try await site.get(keys).header("date") == "Mon, 21 Sep 2026 14:13:20 GMT")
            site.provider.clock.advance(by: 86_400 * 10)
            #expect(try await site.get(keys).header("date") == "Thu, 01 Oct 2026 14:13:20 GMT")
            #expect(try await site.get(site.tenant + "/nothing").header("date") == "Thu, 01 Oct 2026 14:13:20 GMT")
        }
    }
}
