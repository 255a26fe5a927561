import Crypto
import Foundation
import IssuerSupport
import OAuth
import TestTraits
import Testing

/// `login --device` as a person runs it.
@Suite(.onWaitingThreads)
struct DeviceLoginTests {
    private static let key = P256.Signing.PrivateKey()

    /// An issuer whose person has decided by the second request.
    private func issuer(_ decision: HandmadeIssuer.Answer? = nil, name: String = "Mara") throws -> HandmadeIssuer {
        let issuer = try HandmadeIssuer()
        issuer.publish(
            JSONValue.Object([
                ("device_authorization_endpoint", .string(issuer.issuer + "/device")),
                ("jwks_uri", .string(issuer.issuer + "/keys")),
            ])
        )
        let point = Self.key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        issuer.answer(.init(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}]}"#), at: "/op/keys")
        let page = issuer.baseURL + "/page"
        issuer.answer(
            .init(
                #"{"device_code":"d-1","user_code":"WDJB-MJHT","verification_uri":"\#(page)","expires_in":120,"#
                    + #""verification_uri_complete":"\#(page)?code=WDJB-MJHT","interval":1}"#
            ),
            at: "/op/device"
        )
        let pending = HandmadeIssuer.Answer(status: 400, #"{"error":"authorization_pending"}"#)
        issuer.answer(pending, try decision ?? tokens(issuer, name))
        return issuer
    }

    private func tokens(_ issuer: HandmadeIssuer, _ name: String) throws -> HandmadeIssuer.Answer {
        let now = Int64(Date().timeIntervalSince1970)
        let claims = """
            {"iss":"\(issuer.issuer)","aud":"app","sub":"s","name":"\(name)","iat":\(now),"exp":\(now + 600)}
            """
        let signed = Base64URL.encode(#"{"alg":"ES256"}"#.utf8) + "." + Base64URL.encode(claims.utf8)
        let signature = try Self.key.signature(for: Data(signed.utf8)).rawRepresentation
        let idToken = signed + "." + Base64URL.encode(signature)
        return .init(
            #"{"access_token":"at","expires_in":600,"refresh_token":"rt","scope":"openid read","id_token":"\#(idToken)"}"#
        )
    }

    @Test func `claims that the issuer wants are asked for on its page`() async throws {
        let refusal = #"{"error":"interaction_required","claims":"{\"id_token\":{\"acr\":null}}"}"#
        let issuer = try issuer(.init(status: 400, refusal))
        let outcome = try await login(issuer, ScratchDirectory())
        let command = "tokenstore login --issuer \(issuer.issuer) --client-id app --scope read"
        let hint = #"; sign in again with '\#(command) --claims '{"id_token":{"acr":null}}''"#
        #expect(outcome.error.hasSuffix(hint + "\n"), "\(outcome.error)")
    }

    private func login(_ issuer: HandmadeIssuer, _ scratch: ScratchDirectory, _ more: String...) async throws
        -> Command.Outcome
    {
        let command = Command(
            arguments: ["login", "--device", "--issuer", issuer.issuer, "--client-id", "app", "--scope", "read"] + more,
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        return try await command.runAside(in: scratch)
    }

    @Test func `the code is shown, and the user who enters it is signed in`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        let outcome = try await login(issuer, scratch, "--quiet")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.error.contains("open \(issuer.baseURL)/page on any device and enter the code WDJB-MJHT"))
        #expect(outcome.error.contains("\n\(issuer.baseURL)/page?code=WDJB-MJHT\n"))
        #expect(!(outcome.error + outcome.output).contains("d-1"))
        #expect(issuer.forms().map { $0["device_code"] } == ["d-1", "d-1"])
        #expect(issuer.forms("/op/device").first?["scope"] == "openid profile offline_access read")
        let list = Command(arguments: ["list", "--json"], environment: ["TOKENSTORE_PATH": scratch.store])
        let accounts = try list.run(in: scratch).json["accounts"] as? [[String: Any]]
        #expect(accounts?.first?["hasRefreshToken"] as? Bool == true)
    }

    @Test func `an issuer that refuses an added scope is asked without it`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        issuer.answer(
            .init(status: 400, #"{"error":"not_allowed","error_description":"Offline tokens not allowed"}"#),
            at: "/op/device"
        )
        let unlisted = try await login(issuer, scratch)
        #expect(unlisted.error.hasSuffix(" where the issuer has them, with --exact-scope\n"), "\(unlisted.error)")
        issuer.answer(.init(status: 400, #"{"error":"invalid_scope"}"#), at: "/op/device")
        let refused = try await login(issuer, scratch)
        #expect(refused.status == 1)
        #expect(refused.error.hasSuffix(" where the issuer has them, with --exact-scope\n"), "\(refused.error)")
        let exact = try await login(issuer, scratch, "--exact-scope", "--parameter", "audience=https://a.example")
        #expect(exact.error.hasSuffix("invalid_scope; correct the request or the client's registration\n"))
        let forms = issuer.forms("/op/device")
        let added = "openid profile offline_access read"
        #expect(forms.map { $0["scope"] } == [added, added, "openid read"])
        #expect(forms.map { $0["audience"] } == [nil, nil, "https://a.example"])
    }

    @Test func `a session is refreshed with what its first sign-in fetched while discovery is down`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        #expect(try await login(issuer, scratch).status == 0)
        let (discovery, keys) = ("/op/.well-known/openid-configuration", "/op/keys")
        let (askedForMetadata, askedForKeys) = (issuer.forms(discovery).count, issuer.forms(keys).count)
        issuer.answer(.init(status: 503), at: discovery)
        issuer.answer(.init(status: 503), at: keys)
        issuer.answer(.init(#"{"access_token":"at-1","expires_in":600}"#))
        let environment = ["TOKENSTORE_PATH": scratch.store]
        let token = Command(arguments: ["token", "--scope", "read", "--force-refresh"], environment: environment)
        let outcome = try await token.runAside(in: scratch)
        #expect(outcome.output == "at-1\n", "\(outcome.error)")
        #expect(issuer.forms(discovery).count == askedForMetadata)
        #expect(issuer.forms(keys).count == askedForKeys)
    }

    @Test func `who signed in on another device is to do so again`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        #expect(try await login(issuer, scratch).status == 0)
        issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        let environment = ["TOKENSTORE_PATH": scratch.store]
        let token = Command(arguments: ["token", "--scope", "read", "--force-refresh"], environment: environment)
        let ended = try await token.runAside(in: scratch)
        let command = HintShell.quoted(ended.error)
        let words = "tokenstore login --device --issuer \(issuer.issuer) --client-id app --scope read"
        #expect(command.hasPrefix(words), "\(ended.error)")
        issuer.answer(try tokens(issuer, "Mara"))
        let arguments = command.split(separator: " ").dropFirst().map(String.init)
        let again = try await Command(arguments: arguments, environment: environment).runAside(in: scratch)
        #expect(again.status == 0, "\(again.error)")
    }

    @Test func `with --json a program gets the code and the address as a line of JSON`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        let outcome = try await login(issuer, scratch, "--json")
        #expect(outcome.status == 0, "\(outcome.error)")
        let line = try JSONSerialization.jsonObject(with: Data(outcome.error.utf8)) as? [String: [String: Any]]
        let device = try #require(line?["deviceAuthorization"])
        #expect(device["userCode"] as? String == "WDJB-MJHT")
        #expect(device["verificationUri"] as? String == "\(issuer.baseURL)/page")
        #expect(device["verificationUriComplete"] as? String == "\(issuer.baseURL)/page?code=WDJB-MJHT")
        #expect(device["expiresIn"] is Int)
        #expect(try outcome.json["displayName"] as? String == "Mara")
    }

    @Test func `a very long name is shortened on the line, and whole in JSON`() async throws {
        let name = String(repeating: "x", count: 20_000)
        let (first, second) = (try issuer(name: name), try issuer(name: name))
        let line = try await login(first, try ScratchDirectory())
        #expect(line.status == 0, "\(line.error)")
        #expect(line.output.hasPrefix("signed in xxx"))
        #expect((1_000...1_300).contains(line.output.utf8.count))
        #expect(try await login(second, try ScratchDirectory(), "--json").json["displayName"] as? String == name)
    }

    @Test func `a name that was cut in the middle of a character keeps nobody out`() async throws {
        let (issuer, scratch) = (try issuer(name: #"Mara \ud83d"#), try ScratchDirectory())
        let outcome = try await login(issuer, scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.hasPrefix("signed in Mara"))
    }

    /// What the store's key is to come from, and cannot.
    @Test(
        arguments: [
            ("environment", 7), ("passphrase", 7), ("passphrase:fd=77", 7), ("passphrase:fd=1", 7),
            ("credential:none", 7), ("command:/nonexistent/kms", 7), ("file:/nonexistent/key", 7),
        ] as [(String, Int32)]
    )
    func `a key that cannot be had is known before the person signs in`(source: String, status: Int32) async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        let outcome = try await login(issuer, scratch, "--key", source)
        #expect(outcome.status == status, "\(outcome.error)")
        #expect(issuer.forms("/op/device").isEmpty && issuer.forms().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: scratch.store))
    }

    @Test func `a directory that others may use is known before the person signs in`() async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        let directory = scratch.path("open")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        #expect(chmod(directory, 0o755) == 0)
        let outcome = try await login(issuer, scratch, "--store", directory + "/s.db")
        #expect(outcome.status == 1, "\(outcome.error)")
        #expect(outcome.error.contains("its mode is 755"), "\(outcome.error)")
        #expect(issuer.forms("/op/device").isEmpty)
    }

    @Test(arguments: [("-5", 1), ("9223372036854775807", 3_600)])
    func `a Retry-After is told as a second to an hour`(wait: String, seconds: Int) async throws {
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        issuer.answer(.init(status: 503, headers: ["Retry-After: \(wait)"]), at: "/op/device")
        let outcome = try await login(issuer, scratch, "--json")
        #expect(outcome.status == 8, "\(outcome.error)")
        #expect(try outcome.errorJSON["retryAfter"] as? Int == seconds)
        #expect(try outcome.errorJSON["hint"] as? String == "try again in \(seconds) s")
    }

    @Test(
        arguments: [
            ("access_denied", 9, "cancelled"), ("expired_token", 9, "the code has ended before"),
            ("invalid_client", 1, "invalid_client"),
        ] as [(String, Int32, String)]
    )
    func `a refusal has its exit status and stores nothing`(error: String, status: Int32, words: String) async throws {
        let refusal = HandmadeIssuer.Answer(status: 400, #"{"error":"\#(error)"}"#)
        let (issuer, scratch) = (try issuer(refusal), try ScratchDirectory())
        let outcome = try await login(issuer, scratch)
        #expect(outcome.status == status)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.contains(words), "\(outcome.error)")
        #expect(!FileManager.default.fileExists(atPath: scratch.store))
    }

    @Test func `a refusal with Retry-After ends the sign-in at once`() async throws {
        let headers = ["Retry-After: 60"]
        let refusal = HandmadeIssuer.Answer(status: 400, headers: headers, #"{"error":"access_denied"}"#)
        let (issuer, scratch) = (try issuer(refusal), try ScratchDirectory())
        let outcome = try await login(issuer, scratch)
        #expect(outcome.status == 9, "\(outcome.error)")
        #expect(outcome.error.contains("cancelled"), "\(outcome.error)")
        #expect(issuer.forms().count == 2)
    }

    @Test func `--wait ends a device login with any Retry-After`() async throws {
        let busy = HandmadeIssuer.Answer(status: 429, headers: ["Retry-After: 9999999"])
        let (issuer, scratch) = (try issuer(), try ScratchDirectory())
        issuer.answer(busy)
        let outcome = try await login(issuer, scratch, "--wait", "1.5")
        #expect(outcome.status == 8, "\(outcome.error)")
        #expect(outcome.error.contains("the issuer was asked too often"), "\(outcome.error)")
        #expect(outcome.error.contains("WDJB-MJHT within 1 s; Ctrl-C"))
        // The second request comes after a second, if the first was over by then.
        #expect((1...2).contains(issuer.forms().count))
        #expect(!FileManager.default.fileExists(atPath: scratch.store))
    }

    @Test func `device login without an endpoint or with browser options is an error`() async throws {
        let (issuer, scratch) = (try HandmadeIssuer(), try ScratchDirectory())
        issuer.publish(JSONValue.Object([("jwks_uri", .string(issuer.issuer + "/keys"))]))
        issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
        let outcome = try await login(issuer, scratch)
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("offers no sign-in with a device code; sign in with a"))
        for option in [["--no-browser"], ["--prompt", "login"], ["--login-hint", "mara"]] {
            let command = Command(
                arguments: ["login", "--device", "--issuer", issuer.issuer, "--client-id", "app"] + option,
                environment: ["TOKENSTORE_PATH": scratch.store]
            )
            let refused = try command.run(in: scratch)
            #expect(refused.status == 64, "\(refused.error)")
            #expect(refused.error.contains("--device"), "\(refused.error)")
        }
    }
}
