import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// The pages in a real browser, driven as a person would.
struct ChromiumTests {
    private static let why: Comment = "needs Debian's chromium and chromium-driver"

    /// Runs the steps and redeems the code in the address that the browser ends at.
    private func tokens(
        _ site: Site,
        _ browser: Browser,
        _ policy: String,
        _ more: [String: String] = [:],
        steps: () async throws -> Void
    ) async throws -> JSONValue {
        let authority = "\(site.provider.baseURL)/tfp/fabrikvine.onmicrosoft.com/\(policy)"
        // Nothing is at this path of the provider either; only the address counts.
        let callback = site.provider.baseURL + "/"
        try await browser.open(site.authorizeURL(authority, more.merging(["redirect_uri": callback]) { $1 }))
        try await steps()
        let end = try await URLComponents(string: browser.address { $0.contains("code=") })
        let items = Dictionary((end?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        guard let code = items["code"] else { throw ExpectationFailure("a code in \(String(describing: end))") }
        #expect(items["state"] == "st&te")
        return try await site.redeem(code, authority, ["redirect_uri": callback]).claims(of: "id_token")
    }

    @Test(.tags(.slow), .ifSlowTestsAreWanted, .enabled(if: Browser.isInstalled, why))
    func `Chromium signs in, signs up, edits a profile and chooses an account`() async throws {
        try await Site.open { site in
            try await Browser.open { try await journey(site, $0) }
        }
    }

    private func journey(_ site: Site, _ browser: Browser) async throws {
        let signedIn = try await tokens(site, browser, "b2c_1_susi") {
            try await browser.waitForHeading("Sign in")
            try await browser.fill("username", Site.ana)
            try await browser.fill("password", Site.anasPassword)
            try await browser.press("#sign_in")
        }
        #expect(signedIn["name"] == "Ana Rojas")
        #expect(signedIn["tfp"] == "b2c_1_susi")
        #expect(signedIn["nonce"] == "n-1")

        let edited = try await tokens(site, browser, "b2c_1_edit") {
            try await browser.waitForHeading("Edit profile")
            try await browser.fill("displayName", "Ana <b>Vélez</b> & Co")
            try await browser.press("#save")
        }
        #expect(edited["name"] == "Ana <b>Vélez</b> & Co")
        #expect(edited["tfp"] == "b2c_1_edit")

        let signedUp = try await tokens(site, browser, "b2c_1_susi", ["prompt": "login"]) {
            try await browser.waitForHeading("Sign in")
            try await browser.press("#sign_up_now")
            try await browser.waitForHeading("Sign up")
            try await browser.fill("username", "eva@example.org")
            try await browser.fill("password", "Llanura-5-Viento")
            try await browser.fill("displayName", "Eva Mora")
            try await browser.press("#sign_up")
            try await browser.waitForHeading("Enter the code")
            try await browser.fill("code", site.code(to: "eva@example.org"))
            try await browser.press("#submit_code")
        }
        #expect(signedUp["name"] == "Eva Mora")
        #expect(signedUp["email"] == "eva@example.org")

        let chosen = try await tokens(site, browser, "b2c_1_susi", ["prompt": "select_account"]) {
            try await browser.waitForHeading("Choose an account")
            try await browser.press("button[value=\"0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1\"]")
        }
        #expect(chosen["preferred_username"] == "ana.rojas@example.org")
    }
}
