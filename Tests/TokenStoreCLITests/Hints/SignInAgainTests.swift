import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// "Sign in again" comes with the command that does it.
@Suite(.onWaitingThreads)
struct SignInAgainTests {
    @Test func `the command signs the account of a user flow in again`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            #expect(try await scene.logIn().status == 0)
            let body = #"{"error":"invalid_grant","error_description":"No."}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let ended = try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope)
            #expect(ended.status == 4)
            #expect(
                ended.error.contains("No; sign in again with 'tokenstore login --authority http://"),
                "\(ended.error)"
            )
            let command = HintShell.quoted(ended.error)
            #expect(command.contains(" --client-id b2c-app --login-hint ana.rojas@example.org "), "\(command)")
            let words = command.split(separator: " ").map(String.init)
            let again = try await scene.login.run(Array(words.dropFirst(2))) { try await LoginScene.signIn(at: $0) }
            #expect(again.status == 0, "\(again.error)")
            #expect(try await scene.run("token", "--force-refresh", "--scope", LoginScene.scope).status == 0)
            #expect(try await scene.run("list", "--json").json["total"] as? Int == 1)
        }
    }

    @Test func `who signed in with native authentication does so again`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token"))
            let ended = try await scene.tokens(1)[0]
            #expect(ended.status == 4)
            let command = HintShell.quoted(ended.error)
            #expect(command.hasPrefix("tokenstore login --native --authority http://"), "\(ended.error)")
            #expect(command.contains(" --client-id pwd-app --username \(LoginScene.ana) "), "\(ended.error)")
            try scene.scratch.write(LoginScene.anasPassword + "\n", to: "password")
            let words = command.split(separator: " ").dropFirst().map(String.init)
            let again = Command(
                arguments: words + ["--password-from", "4"],
                environment: ["TOKENSTORE_PATH": scene.scratch.store],
                files: [4: scene.scratch.path("password")]
            )
            let outcome = try await again.runAside(in: scene.scratch)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try await scene.tokens(1)[0].status == 0)
        }
    }

    @Test func `the command has the claims that the issuer wants, also while no request is repeated`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"interaction_required","claims":"{\"access_token\":{\"acrs\":{\"value\":\"c1\"}}}"}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let claims = #" --claims '{"access_token":{"acrs":{"value":"c1"}}}'"#
            for option in ["--quiet", "--quiet", "--cached"] {
                let outcome = try await scene.tokens(1, option)[0]
                #expect(outcome.status == 4)
                #expect(outcome.error.contains(claims), "\(outcome.error)")
                // A page asks for claims, and the terminal does not.
                #expect(!outcome.error.contains("--native"), "\(outcome.error)")
            }
            let explained = try await scene.run("explain", "--scope", IssuerScene.scope.text, "--json")
            let decision = try #require(explained.json["decision"] as? [String: Any])
            #expect((decision["reason"] as? String)?.contains(claims) == true, "\(explained.output)")
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `consent is asked for on a page, also of who signed in without a browser`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"invalid_grant","suberror":"consent_required","error_codes":[65001]}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            for option in ["--quiet", "--cached"] {
                let outcome = try await scene.tokens(1, option)[0]
                #expect(outcome.status == 4)
                let command = HintShell.quoted(outcome.error)
                #expect(command.hasPrefix("tokenstore login --authority http://"), "\(outcome.error)")
                #expect(command.contains(" --login-hint \(LoginScene.ana) "), "\(outcome.error)")
            }
        }
    }

    @Test func `a second factor is given on the terminal by who signed in there`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"interaction_required","error_codes":[50076]}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 4)
            #expect(outcome.error.contains("'tokenstore login --native --authority http://"), "\(outcome.error)")
        }
    }

    @Test func `a refresh that the issuer answers with a browser leaves the token unspent`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"challenge_type":"redirect","redirect_reason":"need MFA"}"#
            scene.provider.faults.add(.answer(status: 200, body: body, at: "token"))
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 4)
            let advice = "need MFA; sign in again with 'tokenstore login --authority http://"
            #expect(outcome.error.contains(advice), "\(outcome.error)")
            #expect(try scene.rows == .all)
            // One that may be spent would be called that now.
            scene.provider.faults.add(.answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token"))
            let refused = try await scene.tokens(1, "--force-refresh")[0]
            #expect(refused.error.contains("the issuer answered invalid_grant"), "\(refused.error)")
        }
    }

    @Test func `a password that has to be reset is reset without a browser by who signed in so`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"invalid_request","error_codes":[50142]}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 4)
            let advice = "choose a new password: 'tokenstore reset-password --authority http://"
            #expect(outcome.error.contains(advice), "\(outcome.error)")
            let who = " --client-id pwd-app --username \(LoginScene.ana) --scope \(IssuerScene.scope.text)'\n"
            #expect(outcome.error.hasSuffix(who), "\(outcome.error)")
        }
    }

    @Test func `names that a shell reads otherwise are quoted`() throws {
        let scratch = try ScratchDirectory()
        var user = CachedUser.mara
        user.username = "o'hara $(id)@example.net"
        user.hasRefreshToken = false
        user.lifetimes = [-60]
        try scratch.fill(user)
        let outcome = try scratch.run("token", "--scope", "tasks.read", "--store", scratch.store)
        #expect(outcome.status == 4)
        #expect(outcome.error.contains(#"--login-hint $'o\047hara \044\050id\051@example.net'"#), "\(outcome.error)")
        #expect(outcome.error.contains("--store \(scratch.store)"), "\(outcome.error)")
    }

    @Test func `an account that no client has tokens of is signed in again with any`() throws {
        let scratch = try ScratchDirectory()
        let cache = try JSONSerialization.jsonObject(with: Data(CachedUser.cache([.mara]).utf8)) as? [String: Any]
        let accounts = try JSONSerialization.data(withJSONObject: ["Account": try #require(cache?["Account"])])
        #expect(try scratch.run("import", input: String(decoding: accounts, as: UTF8.self)).status == 0)
        let outcome = try scratch.run("token", "-a", "mara@example.net", "--scope", "tasks.read")
        #expect(outcome.status == 4)
        #expect(
            outcome.error.contains("sign in again with 'tokenstore login --authority https://harbor.b2clogin.com/"),
            "\(outcome.error)"
        )
        #expect(outcome.error.contains(" --client-id ID --login-hint mara@example.net'"), "\(outcome.error)")
    }

    @Test func `another user flow than the account's is exit status 4 with the command for that one`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let authority = "https://harbor.b2clogin.com/tfp/7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e/b2c_1_edit"
        let asking = ["-a", "mara@example.net", "--scope", "tasks.read", "--authority", authority]
        let advice = "not b2c_1_edit; sign in with user flow b2c_1_edit: 'tokenstore login --authority \(authority) "
        for options in [[], ["--cached"], ["--force-refresh"]] {
            let outcome = try scratch.command(["token"] + asking + options)
            #expect(outcome.status == 4)
            #expect(outcome.error.contains(advice), "\(outcome.error)")
            #expect(outcome.error.contains(" --login-hint mara@example.net "), "\(outcome.error)")
        }
        let explained = try scratch.command(["explain"] + asking + ["--json"])
        #expect(explained.status == 0, "\(explained.error)")
        let decision = try #require(explained.json["decision"] as? [String: Any])
        #expect((decision["reason"] as? String)?.contains(advice) == true, "\(explained.output)")
    }

    @Test func `an account of an unknown user flow gets what is stored, and then advice that works`() throws {
        let scratch = try ScratchDirectory()
        let place: KeyValuePairs<String, JSONValue> = ["environment": "harbor.b2clogin.com"]
        let now = Int64(Date().timeIntervalSince1970)
        let times: KeyValuePairs<String, JSONValue> = [
            "cached_at": .seconds(now - 2_000), "refresh_on": .seconds(now - 100), "expires_on": .seconds(now + 3_600),
        ]
        let cache = JSONValue.cache(
            accessTokens: [.accessToken("a1", "s1").with(place).with(times)],
            refreshTokens: [.refreshToken("r1").with(place)],
            accounts: [.account(["realm": "harbor.onmicrosoft.com"]).with(place)]
        )
        #expect(try scratch.run("import", input: cache.serialized).status == 0)
        for options in [[], ["--cached"], ["--min-ttl", "60"]] {
            let outcome = try scratch.command(["token", "--scope", "s1"] + options)
            #expect(outcome.output == "a1\n", "\(outcome.error)")
        }
        func decision(_ options: String...) throws -> [String: Any]? {
            try scratch.command(["explain", "--json", "--scope"] + options).json["decision"] as? [String: Any]
        }
        #expect(try decision("s1")?["action"] as? String == "serve")
        let advice = "name its authority with --authority URL/USERFLOW, or sign in again"
        // A tenant does not stand for the user flow.
        for options in [[], ["--cached"], ["--tenant", "harbor.onmicrosoft.com"]] {
            let outcome = try scratch.command(["token", "--scope", "s2"] + options)
            #expect(outcome.status == 4)
            #expect(outcome.error.hasSuffix("refreshed; \(advice)\n"), "\(outcome.error)")
        }
        #expect((try decision("s2")?["reason"] as? String)?.hasSuffix(advice) == true)
        let authority = "https://harbor.b2clogin.com/t1/b2c_1_susi"
        #expect(try decision("s2", "--authority", authority)?["action"] as? String == "refresh")
    }

    @Test func `at an authority that the account is not of another account signs in, by the command`() throws {
        let scratch = try ScratchDirectory()
        let tenant = JSONValue.string("9188040d-6c67-4c5b-b112-36a304b66dad")
        let id = JSONValue.string("u1.9188040d-6c67-4c5b-b112-36a304b66dad")
        let account = JSONValue.account(["home_account_id": id, "realm": tenant, "username": "me@outlook.com"])
        let cache = JSONValue.cache(refreshTokens: [.refreshToken("r1", ["home_account_id": id])], accounts: [account])
        #expect(try scratch.run("import", input: cache.serialized).status == 0)
        let authority = "https://login.microsoftonline.com/organizations"
        let asking = ["-a", "me@outlook.com", "--scope", "s1", "--authority", authority]
        let command = "tokenstore login --authority \(authority) --client-id cid --scope s1"
        let outcome = try scratch.command(["token"] + asking)
        #expect(outcome.status == 4)
        #expect(outcome.error.hasSuffix("; sign in there with '\(command)'\n"), "\(outcome.error)")
        let explained = try scratch.command(["explain"] + asking)
        #expect(explained.output.contains("sign in there with"), "\(explained.output)")
    }

    @Test func `a failed revocation is no reason to try again`() async throws {
        try await LoginScene.open { (scene: LoginScene) async throws in
            #expect(try await scene.logIn().status == 0)
            scene.provider.faults.add(.status(503, at: "revoke"))
            let outcome = try await scene.run("logout", LoginScene.ana)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.contains("was not ended at the issuer"), "\(outcome.error)")
            #expect(!outcome.error.contains("try again"), "\(outcome.error)")
            #expect(try await scene.run("list", "--json").json["total"] as? Int == 0)
        }
    }
}
