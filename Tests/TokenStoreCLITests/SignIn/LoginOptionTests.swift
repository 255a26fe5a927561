import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStoreCLI

/// What `login` passes on to the issuer's page, and where it finds it.
@Suite(.onWaitingThreads)
struct LoginOptionTests {
    /// The parameters of the page that a login opens; the person cancels there.
    private func parameters(_ scene: LoginScene, _ more: [String]) async throws -> (page: String, heading: String) {
        var (page, heading) = ("", "")
        let outcome = try await scene.login.run(scene.place + more) { start in
            page = try await LoginRun.page(start)
            let visitor = try ScriptedBrowser()
            try await visitor.open(page)
            heading = await visitor.heading
            try await visitor.press("cancel")
        }
        #expect(outcome.status == 9, "\(outcome.error)")
        return (page, heading)
    }

    @Test func `--domain-hint leads to the page of that identity provider`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let (page, heading) = try await parameters(scene, ["--domain-hint", "facebook.com"])
            #expect(page.contains("&domain_hint=facebook.com"))
            #expect(heading == "Sign in at facebook.com")
        }
    }

    @Test func `--parameter and --exact-scope change what the page is asked for`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let audience = "audience=https://a.example/?x=1&y"
            let more = ["--exact-scope", "--parameter", audience, "--parameter", "a=\u{301}"]
            let (page, _) = try await parameters(scene, more)
            #expect(page.contains("&a=%CC%81&audience=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y"), "\(page)")
            let items = URLComponents(string: page)?.queryItems ?? []
            #expect(items.first { $0.name == "scope" }?.value == "openid \(LoginScene.scope)")
            for (text, words) in [
                ("state=x", "the parameter state is set by the sign-in itself; leave it out"),
                ("Redirect_URI=x", "the parameter Redirect_URI is set by the sign-in itself; use --redirect-uri"),
                ("=x", "a --parameter is not NAME=VALUE; give it as in --parameter ui_locales=es"),
                ("a=x", "a --parameter is given twice; give each name once"),
                ("max_age=1h", "max_age is not a whole number of seconds; give one such as max_age=3600"),
            ] {
                let twice = ["--parameter", "a=b", "--parameter", text]
                let outcome = try await scene.run(["login"] + scene.place + twice)
                #expect(outcome.status == 64)
                #expect(outcome.error.contains(words), "\(outcome.error)")
            }
        }
    }

    @Test func `--claims asks for claims, such as a second factor`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let claims = #"{"id_token":{"acrs":{"value":"c1","essential":true}}}"#
            let outcome = try await scene.login.run(scene.place + ["--claims", claims]) { start in
                let visitor = try ScriptedBrowser()
                try await visitor.open(start)
                try await visitor.signIn(LoginScene.ana, LoginScene.anasPassword)
                #expect(await visitor.heading == "Enter the code")
                let code = scene.provider.outbox.messages(to: LoginScene.ana).last?.code ?? ""
                try await visitor.press("submit_code", ["code": code])
            }
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test(
        arguments: [
            ("consent_required", "consent"), ("login_required", "login"), ("interaction_required", "login"),
            ("account_selection_required", "select_account"),
        ]
    )
    func `a refusal to go on unasked comes with the command that has the issuer ask`(
        code: String,
        prompt: String
    ) async throws {
        let issuer = try HandmadeIssuer()
        let members = JSONValue.Object([
            ("authorization_endpoint", .string(issuer.issuer + "/authorize")),
            ("jwks_uri", .string(issuer.issuer + "/keys")),
        ])
        issuer.publish(members)
        issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
        let place = ["--issuer", issuer.issuer, "--client-id", "app", "--scope", "read", "--login-hint", "a b"]
        let login = LoginRun(scratch: try ScratchDirectory())
        func refused(_ more: String...) async throws -> String {
            let outcome = try await login.run(place + more) { start in
                let items = URLComponents(string: try await LoginRun.page(start))?.queryItems ?? []
                let sent = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
                let answer = "\(sent["redirect_uri"] ?? "")?error=\(code)&state=\(sent["state"] ?? "")"
                _ = try await AsyncHTTPTransport().send(HTTPRequest("GET", answer), limits: .issuer)
            }
            #expect(outcome.status == 1)
            return outcome.error
        }
        let words = "login --issuer \(issuer.issuer) --client-id app --login-hint 'a b' --scope read --prompt \(prompt)"
        let unasked = try await refused()
        #expect(unasked.hasSuffix("; sign in again with 'tokenstore \(words)'\n"), "\(unasked)")
        // What was tried already is not proposed.
        let asked = try await refused("--prompt", prompt)
        #expect(asked.hasSuffix("; ask the operator of the issuer, which may ask the person and did not\n"), "\(asked)")
    }

    @Test(arguments: ["interaction_required", "invalid_grant"])
    func `an issuer's claims are in the command that signs in again`(code: String) async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let wanted = #"{\"access_token\":{\"polids\":{\"essential\":true,\"values\":[\"p\"]}}}"#
            let refusal = Fault.answer(status: 400, body: #"{"error":"\#(code)","claims":"\#(wanted)"}"#, at: "token")
            scene.provider.faults.add(refusal)
            let asked = ["--claims", #"{"id_token":{"auth_time":null}}"#]
            let refused = try await scene.login.run(scene.place + asked) { try await LoginScene.signIn(at: $0) }
            #expect(refused.status == 1)
            let told = try #require(
                refused.error.firstMatch(of: #/; sign in again with '(tokenstore login .*)'\n/#)?.output.1
            )
            let access = #""access_token":{"polids":{"essential":true,"values":["p"]}}"#
            #expect(told.contains(#" --claims '{"id_token":{"auth_time":null},\#(access)}'"#), "\(told)")
            // Followed to the letter.
            let again = told.split(separator: " ").dropFirst(2).map { String($0.replacing("'", with: "")) }
            let renewed = try await scene.login.run(again) { address in
                #expect(try await LoginRun.page(address).contains("polids"))
                try await LoginScene.signIn(at: address)
            }
            #expect(renewed.status == 0, "\(renewed.error)")
            // What was asked for already is not proposed.
            scene.provider.faults.add(refusal)
            let last = try await scene.login.run(again) { try await LoginScene.signIn(at: $0) }
            #expect(last.error.hasSuffix("which wants claims that were asked for\n"), "\(last.error)")
        }
    }

    @Test func `a session without a refresh token comes with the command that asks for one`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let place = scene.provider.baseURL + "/fabrikvine.onmicrosoft.com/B2C_1_SUSI/v2.0"
            let known = try await AsyncHTTPTransport().send(
                HTTPRequest("GET", place + "/.well-known/openid-configuration"),
                limits: .issuer
            )
            let metadata = known.body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            // It is not asked for where the issuer does not have it.
            let body = metadata.replacing("\"offline_access\"", with: "\"other\"")
            try #require(body != metadata)
            let issuer = try #require(try JSONValue(parsing: metadata).object?["issuer"]?.text)
            scene.provider.faults.add(.answer(body: body, at: "metadata", times: nil))
            let words = ["--issuer", issuer, "--client-id", "b2c-app", "--scope", LoginScene.scope]
            let login = try await scene.login.run(words) { try await LoginScene.signIn(at: $0) }
            #expect(login.status == 0, "\(login.error)")
            let asked = words.dropLast() + ["'\(LoginScene.scope) offline_access'"]
            let command = "tokenstore login \(asked.joined(separator: " ")) --prompt consent"
            let sentence = "the issuer gave no refresh token, so that the session ends with its access token"
            #expect(
                login.error.contains("\(sentence); where it wants consent for one, sign in with '\(command)'\n"),
                "\(login.error)"
            )
            let ended = try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope)
            #expect(ended.status == 4)
            #expect(ended.error.contains("no refresh token; sign in again with 'tokenstore login "), "\(ended.error)")
            #expect(ended.error.contains(" --prompt consent "), "\(ended.error)")
            #expect(ended.error.contains(" --scope offline_access"), "\(ended.error)")
            // Followed to the letter, although the issuer does not list the scope.
            let told = try #require(ended.error.firstMatch(of: #/with '(tokenstore login .*)'\n/#)?.output.1)
            let again = told.split(separator: " ").dropFirst(2).map(String.init)
            let renewed = try await scene.login.run(again) { address in
                let visitor = try ScriptedBrowser()
                try await visitor.open(address)
                try await visitor.signIn(LoginScene.ana, LoginScene.anasPassword)
                try await visitor.press("accept")
            }
            #expect(renewed.status == 0, "\(renewed.error)")
            #expect(!renewed.error.contains("no refresh token"), "\(renewed.error)")
            // Nor is the next one the end of the session, although it brings none.
            let next = try await scene.login.run(words) { try await LoginScene.signIn(at: $0) }
            #expect(next.status == 0, "\(next.error)")
            #expect(!next.error.contains("no refresh token"), "\(next.error)")
            #expect(try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope).status == 0)
            // One that has ended does not count.
            let ending = Fault.answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token")
            scene.provider.faults.add(ending)
            #expect(try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope).status == 4)
            let last = try await scene.login.run(words) { try await LoginScene.signIn(at: $0) }
            #expect(last.error.contains(sentence), "\(last.error)")
        }
    }

    @Test(
        arguments: [
            ["--claims", "[]"], ["--claims", "{"], ["--device", "--claims", "{}"], ["--device", "--domain-hint", "x"],
            ["--environment", "public"], ["--tenant", "contoso"], ["--policy", "my flow"],
        ]
    )
    func `options that do not fit are refused before the issuer is asked`(more: [String]) async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            let outcome = try await scene.run(["login"] + scene.place + more)
            #expect(outcome.status == 64, "\(outcome.error)")
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test(arguments: ["/tfp/t/B2C_1_SUSI", "/t?p=B2C_1_SUSI", "/t/b2c_1_susi/oauth2/v2.0/authorize"])
    func `a --policy that the address contradicts is to be left out`(path: String) async throws {
        let login = [
            "login", "--client-id", "app", "--authority", "https://h.example" + path, "--policy", "b2c_1_edit",
        ]
        let outcome = try await Command(arguments: login).runAside(in: ScratchDirectory())
        #expect(outcome.status == 64)
        let words = "names another user flow than 'b2c_1_edit'; leave out --policy\n"
        #expect(outcome.error.contains(words), "\(outcome.error)")
    }

    @Test(
        arguments: [
            (MicrosoftCloud.public, nil, "https://login.microsoftonline.com/organizations"),
            (.china, "contoso.example", "https://login.partner.microsoftonline.cn/contoso.example"),
            (.usGovernment, "contoso.example", "https://login.microsoftonline.us/contoso.example"),
        ]
    )
    func `a cloud of Microsoft's has a sign-in host of its own`(
        cloud: MicrosoftCloud,
        tenant: String?,
        url: String
    ) throws {
        #expect(try cloud.authority(tenant: tenant).url == url)
    }
}
