import LocalIdentityProvider
import OAuth
import TokenStorage
import TokenStoreCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// oidc-agent, whose daemon keeps tokens in memory and whose commands ask it.
struct OIDCAgent: Peer {
    static let name = "oidc-agent"
    private static let programs = ["oidc-agent", "oidc-gen", "oidc-add", "oidc-token"]
    let version: String
    private let paths: [String: String]

    /// Nil where one of its programs is missing.
    init?() throws {
        var paths: [String: String] = [:]
        for name in Self.programs {
            guard let path = ChildProcess.path(of: name) else { return nil }
            paths[name] = path
        }
        self.paths = paths
        let said = try ChildProcess(paths["oidc-agent"] ?? "", ["--version"]).output()
        version = String(said.split(separator: "\n").first?.split(separator: " ").last ?? "")
    }

    func program(_ name: String, _ arguments: [String], environment: [String: String]) -> ChildProcess {
        ChildProcess(paths[name] ?? name, arguments, environment: environment)
    }
}

/// A running daemon with accounts of an issuer on loopback.
final class OIDCAgentSession {
    private let peer: OIDCAgent
    private let issuer: BenchIssuer
    private let directory: String
    private let password: String
    private var daemon: RunningProcess?

    /// Each daemon has its own directory: an old daemon may remove its socket after the next one has started.
    private var daemons = 0
    private var socket: String { "\(directory)/socket\(daemons)" }

    init(_ peer: OIDCAgent, _ bench: Bench, accounts: Int) throws {
        self.peer = peer
        directory = try bench.place("oidc-agent").directory
        password = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        issuer = try AsynchronousWork.run { try await BenchIssuer(grace: 60) }
        try start()
        for number in 0..<accounts { try generate(Self.account(number)) }
    }

    deinit {
        stop()
        issuer.stop()
    }

    /// A token from the daemon's memory.
    var token: ChildProcess { program("oidc-token", [Self.account(0)]) }

    /// The names of the accounts that the daemon has.
    var list: ChildProcess { program("oidc-add", ["--loaded"]) }

    /// Starts a daemon anew, gives it an account and asks it for a token.
    func coldSeconds() throws -> Double {
        stop()
        return try Stopwatch.seconds {
            try start()
            let add = program("oidc-add", ["--pw-env", "--pw-store", Self.account(0)])
            for child in [add, token] {
                guard try child.run().isSuccess else { throw BenchFailure("\(child.program) failed") }
            }
        }
    }

    private static func account(_ number: Int) -> String { "bench\(number)" }

    private func program(_ name: String, _ arguments: [String], secrets: [String: String] = [:]) -> ChildProcess {
        let environment = ["OIDC_SOCK": socket, "OIDC_CONFIG_DIR": directory, "OIDC_ENCRYPTION_PW": password]
        return peer.program(name, arguments, environment: environment.merging(secrets) { $1 })
    }

    private func start() throws {
        daemons += 1
        daemon = try program("oidc-agent", ["--console", "--pw-store", "--socket-path", socket]).start()
        let start = Stopwatch.now()
        // The socket exists before the daemon listens on it.
        while try !list.run().isSuccess {
            guard Stopwatch.now() - start < 10 else { throw BenchFailure("oidc-agent does not start") }
            usleep(500)
        }
    }

    private func stop() {
        daemon?.send(SIGTERM)
        // A daemon that had ended already is not an error.
        _ = try? daemon?.wait()
        daemon = nil
    }

    private func generate(_ account: String) throws {
        let answer = try AsynchronousWork.run { [issuer] in try await issuer.response() }
        let arguments = [
            account, "--manual", "--flow=refresh", "--rt-env", "--pw-env", "--issuer", issuer.issuer,
            "--client-id", BenchIssuer.client, "--client-secret", "", "--redirect-uri", "http://localhost:4242",
            "--scope", BenchIssuer.scope.text + " openid offline_access", "--prompt=none", "--confirm-default",
        ]
        let secrets = ["OIDC_REFRESH_TOKEN": answer.refreshToken?.reveal() ?? ""]
        guard try program("oidc-gen", arguments, secrets: secrets).run().isSuccess else {
            throw BenchFailure("oidc-gen cannot make an account")
        }
    }
}
