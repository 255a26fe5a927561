import IssuerSupport
import LocalIdentityProvider
import TestTraits
import Testing

/// `tokenstore login` with a real browser behind `$BROWSER`, and a user at its pages.
@Suite(.onWaitingThreads)
struct ChromiumLoginTests {
    private static let eva = "eva@example.org"

    @Test(
        .tags(.slow),
        .ifSlowTestsAreWanted,
        .enabled(if: Browser.isInstalled, "needs Debian's chromium and chromium-driver")
    )
    func `S08, S10, S13: in Chromium users cancel, sign up and sign in`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            try await Browser.open { browser in
                try await cancel(scene, browser)
                try await signUp(scene, browser)
                try await signIn(scene, browser)
            }
            let listed = try await scene.run("list", "--json").json["accounts"] as? [[String: Any]]
            #expect(Set(listed?.compactMap { $0["name"] as? String } ?? []) == ["Ana Rojas", "Eva Mora"])
        }
    }

    /// Runs the command, and `steps` at the page that its browser opens.
    private func logIn(
        _ scene: LoginScene,
        _ browser: Browser,
        steps: () async throws -> Void
    ) async throws -> Command.Outcome {
        // An earlier user has left the browser signed in.
        try await scene.login.run(scene.place + ["--prompt", "login"]) { address in
            try await browser.open(address)
            try await browser.waitForHeading("Sign in")
            try await steps()
        }
    }

    private func cancel(_ scene: LoginScene, _ browser: Browser) async throws {
        let outcome = try await logIn(scene, browser) {
            try await browser.press("button[value=\"cancel\"]")
            try await browser.waitForHeading("Not signed in")
        }
        #expect(outcome.status == 9, "\(outcome.error)")
        #expect(outcome.output.isEmpty, "\(outcome.error)")
        #expect(try scene.hasNoStore)
    }

    private func signUp(_ scene: LoginScene, _ browser: Browser) async throws {
        let outcome = try await logIn(scene, browser) {
            try await browser.press("#sign_up_now")
            try await browser.waitForHeading("Sign up")
            try await browser.fill("username", Self.eva)
            try await browser.fill("password", "Llanura-5-Viento")
            try await browser.fill("displayName", "Eva Mora")
            try await browser.press("#sign_up")
            try await browser.waitForHeading("Enter the code")
            guard let code = scene.provider.outbox.messages(to: Self.eva).last?.code else {
                throw ExpectationFailure("a code")
            }
            try await browser.fill("code", code)
            try await browser.press("#submit_code")
            try await browser.waitForHeading("Thank you")
        }
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try await scene.run("whoami").output == "Eva Mora\n")
    }

    private func signIn(_ scene: LoginScene, _ browser: Browser) async throws {
        let outcome = try await logIn(scene, browser) {
            try await browser.fill("username", LoginScene.ana)
            try await browser.fill("password", LoginScene.anasPassword)
            try await browser.press("#sign_in")
            try await browser.waitForHeading("Thank you")
        }
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try await scene.run("whoami", LoginScene.ana).output == "Ana Rojas\n")
    }
}
