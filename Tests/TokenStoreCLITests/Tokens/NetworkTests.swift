import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// How the program reaches an issuer.
@Suite(.onWaitingThreads)
struct NetworkTests {
    #if os(Linux)
    /// Limits, and what `token` ends with under them.
    ///
    /// That of stacks is beyond all addresses, so that no user can start a thread.
    static let limits: [(String, Int32, String)] = [
        ("-n 20", 1, "may not open enough files for the network; allow it more with 'ulimit -n 256'"),
        ("-Sn 20", 0, ""), ("-Ss 200000000000", 1, "does not let this program start threads; end other programs, or"),
    ]

    @Test(arguments: limits)
    func `where no files or threads can be had an error says so`(
        limit: String,
        status: Int32,
        words: String
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let script = "ulimit \(limit) && exec timeout -s KILL 60 \"$0\" token --scope \(IssuerScene.scope.text)"
            var command = Command(
                arguments: ["-c", script, Command.binary],
                environment: ["TOKENSTORE_PATH": scene.scratch.store]
            )
            command.program = "/usr/bin/bash"
            let outcome = try await command.runAside(in: scene.scratch)
            #expect(outcome.status == status, "\(outcome.error)")
            #expect(outcome.error.contains(words) || words.isEmpty, "\(outcome.error)")
            #expect(scene.tokenRequestCount == (status == 0 ? 1 : 0))
        }
    }
    #endif

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `a private CA is trusted only with --ca-file or SSL_CERT_FILE`() async throws {
        let authority = try PrivateAuthority()
        let command = ["token", "--scope", IssuerScene.scope.text, "--force-refresh"]
        try await IssuerScene.open(lifetime: 3_600, authority: authority) { (scene: IssuerScene) async throws in
            #expect(scene.provider.baseURL.hasPrefix("https://"))
            let stranger = try await scene.run(command)
            #expect(stranger.status == 1)
            #expect(scene.provider.audit.counts.isEmpty)
            #expect(stranger.error.contains("certificate"))
            #expect(stranger.error.contains("with --ca-file\n"))
            #expect(try await scene.run(command + ["--ca-file", authority.path]).status == 0)
            #expect(try await scene.run(command, environment: ["SSL_CERT_FILE": authority.path]).status == 0)
            // The option is what counts where both are given.
            let both = try await scene.run(
                command + ["--ca-file", "/dev/null"],
                environment: ["SSL_CERT_FILE": authority.path]
            )
            #expect(both.status == 1)
            #expect(both.error.contains("the CA file /dev/null holds no certificates"))
            #expect(scene.tokenRequestCount == 2)
            #expect(
                try await scene.run(["logout", "--yes", "--ca-file", authority.path, "--where", "name"]).status == 0
            )
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `the error of an expired certificate names the clock, not the CA`() async throws {
        let authority = try PrivateAuthority(days: 0)
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.tls = .init(chain: authority.chain, key: authority.key)
        try await LocalIdentityProvider.running(configuration) { provider in
            let outcome = try await Self.login(provider.baseURL, "--ca-file", authority.path)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("by this machine's clock; correct the clock"), "\(outcome.error)")
            #expect(outcome.error.contains(" ended on 20"), "\(outcome.error)")
            #expect(!outcome.error.contains("--ca-file"), "\(outcome.error)")
        }
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `another CA of the same name and a certificate for another name are permanent errors`() async throws {
        for (names, words) in [
            (PrivateAuthority.loopback, "is not trusted (certificate verify failed); name the right authorities with"),
            ("DNS:other.example", "is for another name; check the address, and any proxy in front of it\n"),
        ] {
            let authority = try PrivateAuthority(names: names)
            let trusted = names == PrivateAuthority.loopback ? try PrivateAuthority() : authority
            var configuration = try LocalIdentityProvider.Configuration.forTests
            configuration.tls = .init(chain: authority.chain, key: authority.key)
            try await LocalIdentityProvider.running(configuration) { provider in
                let outcome = try await Self.login(provider.baseURL, "--ca-file", trusted.path)
                #expect(outcome.status == 1)
                #expect(outcome.error.contains(words), "\(outcome.error)")
            }
        }
    }

    @Test func `a missing CA file is an error that says so`() async throws {
        let outcome = try await Self.login("https://127.0.0.1:1", "--ca-file", "/nowhere/ca.pem")
        #expect(outcome.status == 1)
        #expect(
            outcome.error.contains("the CA file /nowhere/ca.pem cannot be read (no such file or directory)"),
            "\(outcome.error)"
        )
    }

    @Test func `a proxy that does not answer is named`() async throws {
        let proxy = ["https_proxy": "http://user:Hidden-7@127.0.0.1:1"]
        let outcome = try await Self.login("https://issuer.example", environment: proxy)
        #expect(outcome.status == 8)
        #expect(outcome.error.contains("no connection to issuer.example (by the proxy 127.0.0.1:1, refused)"))
        #expect(!outcome.error.contains("Hidden-7"))
    }

    /// Begins a sign-in at `base`, which ends before a page is shown.
    private static func login(
        _ base: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Command.Outcome {
        let login = ["login", "--issuer", base + "/x", "--client-id", "app", "--no-browser", "--wait", "5"]
        let scratch = try ScratchDirectory()
        let environment = ["TOKENSTORE_PATH": scratch.store].merging(environment) { $1 }
        return try await Command(arguments: login + arguments, environment: environment).runAside(in: scratch)
    }

    @Test func `an issuer on loopback is reached without the proxy of the environment`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let proxy = ["https_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1"]
            let outcome = try await scene.run(["token", "--scope", IssuerScene.scope.text], environment: proxy)
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test func `a malformed proxy is named by its variable without its password`() async throws {
        let proxy = ["https_proxy": "ftp://user:Hidden-7@proxy.example"]
        let outcome = try await Self.login("https://issuer.example", environment: proxy)
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("https_proxy names no http or socks5 proxy"))
        #expect(!outcome.error.contains("Hidden-7"))
    }

    @Test func `a malformed proxy keeps nobody from an issuer on loopback`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let proxy = ["https_proxy": "ftp://user:Hidden-7@proxy.example"]
            let outcome = try await scene.run(["token", "--scope", IssuerScene.scope.text], environment: proxy)
            #expect(outcome.status == 0, "\(outcome.error)")
        }
    }

    @Test func `R10: an issuer that is gone is a temporary error`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            await scene.provider.stop()
            let outcome = try await scene.run(["token", "--scope", IssuerScene.scope.text])
            #expect(outcome.status == 8, "\(outcome.error)")
            #expect(outcome.error.contains("try again"), "\(outcome.error)")
            #expect(try scene.rows == .all)
        }
    }
}
