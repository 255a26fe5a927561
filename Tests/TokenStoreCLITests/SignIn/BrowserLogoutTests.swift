import IssuerSupport
import LocalIdentityProvider
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct BrowserLogoutTests {
    /// Ana, signed in with a browser that keeps its cookies.
    private func signIn(_ scene: LoginScene) async throws -> ScriptedBrowser {
        let visitor = try ScriptedBrowser()
        let outcome = try await scene.login.run(scene.place) { address in
            try await visitor.open(address)
            try await visitor.signIn(LoginScene.ana, LoginScene.anasPassword)
        }
        #expect(outcome.status == 0, "\(outcome.error)")
        return visitor
    }

    @Test func `a logout with --browser also ends the session there, and shows no token`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let visitor = try await signIn(scene)
            var opened = ""
            let outcome = try await scene.login.run(["--yes", "--browser", LoginScene.ana], command: "logout") {
                opened = $0
                try await visitor.open($0)
            }
            #expect(outcome.status == 0, "\(outcome.error)")
            let sentence = "signed out \(LoginScene.ana); the issuer ended the session and that of the browser\n"
            #expect(outcome.output == sentence)
            #expect(opened.hasPrefix("http://127.0.0.1:"))
            #expect(!(opened + outcome.error).contains("eyJ"))
            #expect(scene.provider.audit.count(of: "logout") == 1)
            #expect(await visitor.heading == "Signed out")
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test func `where no browser opens the account is gone, and the page to open is printed`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await signIn(scene)
            let arguments = ["logout", "--yes", "--browser", "--json", LoginScene.ana]
            let environment = ["TOKENSTORE_PATH": scene.scratch.store, "BROWSER": "/bin/false"]
            let outcome = try await Command(arguments: arguments, environment: environment).runAside(in: scene.scratch)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.contains("/oauth2/v2.0/logout?client_id=b2c-app"), "\(outcome.error)")
            #expect(!outcome.error.contains("eyJ"))
            let session = try outcome.json["browserSession"] as? [String: Any]
            #expect(session?["outcome"] as? String == "not_shown")
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test func `a dry run says that the browser takes part`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await signIn(scene)
            let outcome = try await scene.run("logout", "--dry-run", "--browser", LoginScene.ana)
            #expect(outcome.output.contains("here, at the issuer and in the browser"), "\(outcome.error)")
        }
    }

    @Test(arguments: [["--browser", "--local-only"], ["--wait", "5"], ["--browser", "--wait", "0"]])
    func `options that do not fit together are refused`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        let command = Command(
            arguments: ["logout", "ana"] + arguments,
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        #expect(try command.run(in: scratch).status == 64)
    }
}
