import Foundation
import OAuth
import TestTraits
import Testing
import TokenStorage

/// `--issuer`, by which letter case and a slash at the end count.
@Suite(.onWaitingThreads)
struct IssuerFilterTests {
    private static let (upper, lower) = ("https://idp.example.com/Main", "https://idp.example.com/main")

    /// A store with a sign-in at each of some issuers, by the same user name and the same subject; the access tokens
    /// are `at-0`, `at-1` and so on.
    private static func store(_ issuers: [String]) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        let store = try TokenStore.open(at: StorePath(scratch.store))
        defer { store.close() }
        for (index, issuer) in issuers.enumerated() {
            let claims = """
                {"iss":"\(issuer)","sub":"1","aud":"app","preferred_username":"mara@example.net",\
                "iat":1790000000,"exp":1790003600}
                """
            let parts = [#"{"alg":"none"}"#, claims, "signature"].map { Base64URL.encode(Array($0.utf8)) }
            var response = TokenResponse(accessToken: Secret("at-\(index)"), expiresIn: .seconds(3_600))
            response.idToken = Secret(parts.joined(separator: "."))
            let request = TokenRequest(
                clientID: "app",
                authority: try Authority(issuer: issuer),
                scope: "read",
                grant: .authorizationCode
            )
            try store.save(response, for: request)
        }
        return scratch
    }

    @Test func `of two issuers that differ by letter case alone one is meant`() throws {
        let scratch = try Self.store([Self.upper, Self.lower])
        for (issuer, text) in [(Self.upper, "at-0\n"), (Self.lower, "at-1\n")] {
            let token = try scratch.run("token", "--scope", "read", "--issuer", issuer)
            #expect(token.output == text, "\(token.error)")
        }
        let trial = try scratch.run("purge", "--issuer", Self.upper, "--dry-run")
        #expect(trial.output.hasPrefix("would delete 1 account, "), "\(trial)")
        #expect(trial.output.components(separatedBy: "mara@example.net").count == 2, "\(trial)")
        #expect(try scratch.run("purge", "--issuer", Self.upper, "--yes").status == 0)
        #expect(try scratch.run("token", "--scope", "read").output == "at-1\n")
        let none = try scratch.run("purge", "--issuer", Self.upper, "--dry-run")
        #expect(none.output.hasPrefix("would delete 0 accounts, "), "\(none)")
    }

    @Test func `the advice tells issuers apart that differ by letter case alone`() throws {
        let scratch = try Self.store([Self.upper, Self.lower])
        let ambiguous = try scratch.run("claims", "mara@example.net")
        #expect(ambiguous.status == 3)
        let option = HintShell.quoted(String(ambiguous.error.split(separator: "\n").first ?? ""))
        #expect([Self.upper, Self.lower].map { "--issuer \($0)" }.contains(option), "\(ambiguous.error)")
        let words = option.split(separator: " ").map(String.init)
        let followed = try scratch.command(["claims", "mara@example.net", "iss"] + words)
        #expect(followed.output == "\(words.last ?? "")\n", "\(followed.error)")
    }

    @Test(
        arguments: [
            ("https://idp.example.com/", "https://idp.example.com"),
            ("https://idp.example.com", "https://idp.example.com/"),
            ("https://idp.example.com/Main", "https://idp.example.com/main"),
            ("https://idp.example.com/main", "HTTPS://IDP.example.com/MAIN/"),
        ]
    )
    func `an issuer in another spelling is answered with the stored one`(stored: String, typed: String) throws {
        let scratch = try Self.store([stored])
        let advice = "no account fits; the issuer is stored as '\(stored)', and every letter counts\n"
        for command in [
            ["token", "--scope", "read"], ["claims"], ["whoami", "mara@example.net"],
            ["logout", "--dry-run", "--local-only"], ["use", "--dry-run"], ["history"],
        ] {
            let outcome = try scratch.command(command + ["--issuer", typed])
            #expect(outcome.status == 3)
            #expect(outcome.error == "tokenstore: error: \(advice)")
            let issuer = HintShell.quoted(String(outcome.error.dropLast()))
            let followed = try scratch.command(command + ["--issuer", issuer])
            #expect(followed.status == 0, "\(command) \(followed.error)")
        }
        let list = try scratch.run("list", "--issuer", typed)
        #expect(list.status == 0)
        #expect(list.error == "tokenstore: \(advice)")
        for option in ["--dry-run", "--yes"] {
            let purge = try scratch.run("purge", "--issuer", typed, option)
            #expect(purge.status == 0)
            #expect(purge.output.contains("delete") && purge.output.contains(" 0 accounts"))
            #expect(purge.error == "tokenstore: \(advice)")
        }
    }

    @Test func `where two stored issuers may be meant, or none, no spelling is proposed`() throws {
        let scratch = try Self.store([Self.upper, Self.lower])
        for typed in ["https://idp.example.com/MAIN", "https://idp.example.com/other", "https://idp.example.com"] {
            let outcome = try scratch.run("token", "--issuer", typed)
            #expect(outcome.status == 3)
            #expect(outcome.error == "tokenstore: error: no account fits; see the accounts with 'tokenstore list'\n")
            #expect(try scratch.run("purge", "--issuer", typed, "--yes").error.isEmpty)
        }
    }

    /// A store with an account at `fs.corp.org` of an import that told no issuer, and one of the same name of an export
    /// that named its issuer, as of accounts that are two.
    private static func storeOfBareHost(with others: CachedUser...) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        let user = CachedUser(
            username: "mara",
            uid: "17",
            tenant: "",
            policy: nil,
            environment: "fs.corp.org",
            client: "app",
            claims: ["iss": "https://fs.corp.org/adfs"]
        )
        var named = try JSONValue(parsing: CachedUser.cache([user])).object ?? .init()
        var bare = named
        bare["IdToken"] = nil
        for (bucket, entries) in named.members {
            let entries = (entries.object?.members ?? []).map { name, entry in
                var entry = entry.object ?? .init()
                entry["account_issuer"] = "https://fs.corp.org/adfs"
                return (name, JSONValue.object(entry))
            }
            named[bucket] = .object(.init(entries))
        }
        let caches = [bare, named].map { JSONValue.object($0).serialized }
        for cache in caches + (try others.map { try CachedUser.cache([$0]) }) {
            #expect(try scratch.run("import", input: cache).status == 0)
        }
        return scratch
    }

    @Test func `no host is advised that is also the host of another account's issuer`() throws {
        let scratch = try Self.storeOfBareHost()
        for command in [["token", "--scope", "tasks.read"], ["claims"], ["claims", "mara"], ["whoami", "mara"]] {
            let ambiguous = try scratch.command(command)
            #expect(ambiguous.status == 3)
            let line = String(ambiguous.error.split(separator: "\n").first ?? "")
            let advice = "name one with --issuer, such as '--issuer https://fs.corp.org/adfs'"
            #expect(line.hasSuffix("; \(advice); 1 account cannot be told apart by an option"), "\(line)")
            let words = HintShell.quoted(line).split(separator: " ").map(String.init)
            let followed = try scratch.command(command + words)
            #expect(followed.status == 0, "\(followed.error)")
        }
        let explained = try scratch.run("explain", "--scope", "tasks.read", "--issuer", "fs.corp.org").output
        #expect(explained.contains("such as '--issuer https://fs.corp.org/adfs'"), "\(explained)")
        let list = try scratch.run("list", "--issuer", "fs.corp.org", "--json")
        #expect(list.output.components(separatedBy: "\"mara\"").count > 2, "\(list.output)")
    }

    @Test func `where one account cannot be named, an option for the others is advised`() throws {
        var other = CachedUser.mara
        other.username = "mara"
        let scratch = try Self.storeOfBareHost(with: other)
        let line = try scratch.run("claims", "mara").error.split(separator: "\n").first.map(String.init) ?? ""
        let advice = "name one with --policy, such as '--policy b2c_1_signin', or with --issuer"
        #expect(line.hasSuffix("; \(advice); 1 account cannot be told apart by an option"), "\(line)")
        for words in [["--policy", "b2c_1_signin"], ["--issuer", "https://fs.corp.org/adfs"]] {
            #expect(try scratch.command(["claims", "mara"] + words).status == 0, "\(words)")
        }
    }
}
