import Foundation
import HTTPTransport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onWaitingThreads)
struct LoginCommandTests {
    @Test func `S08, S12, S14: a user signs in, has a name and a token, and signs out`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.logIn("--log-level", "debug")
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output == "signed in Ana Rojas (ana.rojas@example.org)\n")
            #expect(!outcome.error.contains("code="))
            #expect(!outcome.error.contains("eyJ"))
            #expect(try await scene.run("whoami").output == "Ana Rojas\n")
            let token = try await scene.run("token", "--scope", LoginScene.scope)
            #expect(token.status == 0)
            #expect(token.output.split(separator: ".").count == 3)
            #expect(try await scene.run("claims", "--policy", "B2C_1_SUSI", "tfp").output == "b2c_1_susi\n")
            #expect(scene.provider.audit.count(of: "token") == 1)
            #expect(try await scene.run("logout", "--yes", "ana.rojas@example.org").status == 0)
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test func `S35: the log has no password, code or token, at most the e-mail address`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.logIn("--log-level", "trace", "--login-hint", LoginScene.ana)
            #expect(outcome.status == 0)
            let shown = outcome.output + outcome.error
            #expect(!shown.contains(LoginScene.anasPassword))
            #expect(!shown.contains("code="))
            #expect(!shown.contains("eyJ"))
            let rows = try await TokenStore.open(at: StorePath(scene.scratch.store))
            for account in try await rows.accounts() {
                let tokens = try await rows.refreshTokens(of: account.id, client: "b2c-app").map { $0.secret.reveal() }
                #expect(tokens.count == 1)
                #expect(!tokens.contains { shown.contains($0) })
            }
        }
    }

    @Test func `S41: a list shows scopes and never a token`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            _ = try await scene.logIn()
            let token = try await scene.run("token", "--scope", LoginScene.scope).output.dropLast()
            let commands = [["list", "--tokens"], ["list", "--tokens", "--json"], ["status"], ["whoami", "--json"]]
            for arguments in commands {
                let command = Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scene.scratch.store])
                let shown = try await command.runAside(in: scene.scratch).output
                #expect(!shown.contains(token))
                #expect(!shown.contains("eyJ"))
                if arguments[0] == "list" { #expect(shown.contains(LoginScene.scope)) }
            }
        }
    }

    @Test func `JSON has the account, and a code that is posted as a form is accepted`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.logIn("--json", "--response-mode", "form_post")
            let account = try outcome.json["account"] as? [String: Any]
            #expect(account?["policy"] as? String == "b2c_1_susi")
            #expect(account?["hasRefreshToken"] as? Bool == true)
            #expect(try outcome.json["displayName"] as? String == "Ana Rojas")
            #expect(!outcome.output.contains("eyJ"))
        }
    }

    @Test func `S13, N65: a login cancelled on the page ends with 9 and creates no store`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.login.run(scene.place + ["--json"]) { address in
                let visitor = try ScriptedBrowser()
                try await visitor.open(address)
                try await visitor.press("cancel")
            }
            #expect(outcome.status == 9)
            #expect(outcome.error.split(separator: "\n").last?.contains(#""code":"cancelled""#) == true)
            #expect(try scene.hasNoStore)
        }
    }

    @Test func `a sign-in closes the store, and a cancelled one changes no byte of it`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            #expect(try await scene.logIn().status == 0)
            #expect(try scene.scratch.contents("tokenstore.db-wal").isEmpty)
            let before = try scene.scratch.contents("tokenstore.db")
            let outcome = try await scene.login.run(scene.place) { address in
                let visitor = try ScriptedBrowser()
                try await visitor.open(address)
                try await visitor.press("cancel")
            }
            #expect(outcome.status == 9)
            #expect(try scene.scratch.contents("tokenstore.db") == before)
            #expect(try scene.scratch.contents("tokenstore.db-wal").isEmpty)
        }
    }

    @Test func `the browser's arguments hide the page's address, which is printed`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            for more in [[], ["--quiet"], ["--json"]] {
                let outcome = try await scene.login.run(scene.place + more) { start in
                    #expect(start.contains(/^http:\/\/127\.0\.0\.1:[0-9]+\/[A-Za-z0-9_-]{43}$/))
                    try await LoginScene.signIn(at: start)
                }
                #expect(outcome.status == 0)
                #expect(outcome.error.contains("\n\(scene.provider.baseURL)/tfp/"))
                #expect(outcome.error.contains("&state="))
            }
        }
    }

    @Test func `a browser that exits at once and forged answers do not end the login`()
        async throws
    {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.login.run(scene.place) { start in
                let page = try await LoginRun.page(start)
                let place = page.firstMatch(of: /redirect_uri=([^&]*)/)?.1.removingPercentEncoding ?? ""
                for query in ["code=x&state=guessed", "error=access_denied&state=guessed", "error=access_denied"] {
                    let made = HTTPRequest("GET", "\(place)?\(query)")
                    #expect(try await AsyncHTTPTransport().send(made, limits: .issuer).status == 400)
                }
                try await LoginScene.signIn(at: page)
            }
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test func `Ctrl-C ends with 9 and creates no store`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let command = try await scene.login.start(scene.place)
            command.send(SIGINT)
            #expect(try await command.end() == 9)
            #expect(try scene.hasNoStore)
        }
    }

    @Test func `a login without an answer ends with 9 after printing the address`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            for more in [["--no-browser"], []] {
                var login = scene.login
                login.environment["BROWSER"] = "/nonexistent"
                let outcome = try await login.run(scene.place + ["--wait", "0.2"] + more) { _ in }
                #expect(outcome.status == 9)
                #expect(outcome.output.isEmpty)
                #expect(outcome.error.contains("\n\(scene.provider.baseURL)/tfp/"))
                #expect(outcome.error.contains("S256"))
                #expect(try scene.hasNoStore)
            }
        }
    }

    @Test func `N64: an answer to another request is refused and creates no store`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.login.run(scene.place + ["--wait", "10"]) { start in
                let page = try await LoginRun.page(start)
                let place = page.firstMatch(of: /redirect_uri=([^&]*)/)?.1.removingPercentEncoding ?? ""
                let answer = HTTPRequest("GET", place + "?code=stolen-code&state=guessed")
                _ = try await AsyncHTTPTransport().send(answer, limits: .issuer)
            }
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("belongs to another request"))
            #expect(!outcome.error.contains("stolen-code"))
            #expect(scene.provider.audit.count(of: "token") == 0)
            #expect(try scene.hasNoStore)
        }
    }

    @Test(arguments: Fault.IDTokenFlaw.allCases)
    func `an invalid ID token ends with 1 and creates no store`(flaw: Fault.IDTokenFlaw) async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            scene.provider.faults.add(.wrongIDToken(flaw))
            let outcome = try await scene.logIn()
            #expect(outcome.status == 1, "\(outcome.error)")
            #expect(outcome.error.contains("the issuer's ID token"), "\(outcome.error)")
            #expect(try scene.hasNoStore)
        }
    }

    @Test func `an issuer that cannot be reached, or does not serve, ends with 8`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            scene.provider.faults.add(.status(503, at: "token"))
            #expect(try await scene.logIn().status == 8)
            let away = ["login", "--issuer", "http://127.0.0.1:9", "--client-id", "app"]
            let command = Command(arguments: away, environment: ["TOKENSTORE_PATH": scene.scratch.store])
            #expect(try await command.runAside(in: scene.scratch).status == 8)
            #expect(try scene.hasNoStore)
        }
    }

    @Test func `a refusal is shown with the issuer's description and creates no store`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.login.run(scene.place + ["--scope", "api://no/such"]) { address in
                try await ScriptedBrowser().open(address)
            }
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("invalid_scope: No API has the scope api://no/such; correct the request"))
            #expect(try scene.hasNoStore)
        }
    }

    @Test func `login works with any OpenID provider`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let issuer = scene.provider.baseURL + "/9d3a41c2-7b5e-4a5c-8a8f-5c6e0d1b2e20/v2.0"
            let outcome = try await scene.login.run(["--issuer", issuer, "--client-id", "oidc-app"]) { address in
                let visitor = try ScriptedBrowser()
                try await visitor.open(address)
                try await visitor.signIn("dara@example.org", "Basalto-9-Sol")
            }
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try await scene.run("whoami", "--issuer", issuer).output == "Dara Oum\n")
            let slashed = try await scene.login.run(["--issuer", issuer + "/", "--client-id", "oidc-app"]) { _ in }
            #expect(slashed.status == 1)
            #expect(slashed.error.contains("the issuer names itself \(issuer), "))
        }
    }

    @Test(arguments: [
        ["--client-id", "app"], ["--issuer", "https://a.example"],
        ["--issuer", "http://a.example", "--client-id", "app"],
        ["--issuer", "https://a.example", "--authority", "https://b.example/t", "--client-id", "app"],
        ["--issuer", "https://a.example", "--policy", "b2c_1_x", "--client-id", "app"],
        ["--authority", "https://a.example/t", "--policy", "b2c 1", "--client-id", "app"],
        ["--issuer", "https://a.example", "--client-id", "app", "--prompt", "never"],
        ["--issuer", "https://a.example", "--client-id", "app", "--redirect-uri", "http://example.org/"],
    ])
    func `S07: wrong arguments end with 64 before any request`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        let command = Command(arguments: ["login"] + arguments, environment: ["TOKENSTORE_PATH": scratch.store])
        #expect(try command.run(in: scratch).status == 64)
        #expect(try !scratch.names.contains("tokenstore.db"))
    }

    @Test func `whoami without an account says how to sign in`() throws {
        let scratch = try ScratchDirectory()
        let signedOut = try scratch.run("whoami")
        #expect(signedOut.status == 0)
        #expect(signedOut.error.contains("sign in with 'tokenstore login --issuer URL --client-id ID'"))
        #expect(try scratch.run("whoami", "--json").json["displayName"] is NSNull)
        #expect(try scratch.run("whoami", "mara@example.net").status == 3)
        try scratch.fill(.mara, .ivo)
        #expect(try scratch.run("whoami").status == 3)
        #expect(try scratch.run("whoami", "mara@example.net").output == "mara@example.net\n")
    }
}
