import IssuerSupport
import LocalIdentityProvider
import TestSupport

/// A provider with pages, and an empty directory for the store.
struct LoginScene: Sendable {
    static let scope = "api://todolist/ToDoList.Read"
    static let ana = "ana.rojas@example.org"
    static let anasPassword = "Quinoa-7-Lunas"

    let provider: LocalIdentityProvider
    let scratch: ScratchDirectory

    var login: LoginRun { LoginRun(scratch: scratch) }

    /// The place of the user flow, as arguments.
    var place: [String] {
        [
            "--authority", provider.baseURL + "/fabrikvine.onmicrosoft.com", "--policy", "B2C_1_SUSI", "--client-id",
            "b2c-app", "--scope", Self.scope,
        ]
    }

    static func open(
        port: Int = 0,
        authority: PrivateAuthority? = nil,
        seed: Seed? = nil,
        _ body: (LoginScene) async throws -> Void
    ) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.port = port
        configuration.seed = seed
        configuration.tls = authority.map { .init(chain: $0.chain, key: $0.key) }
        try await LocalIdentityProvider.running(configuration) { provider in
            try await body(LoginScene(provider: provider, scratch: try ScratchDirectory()))
        }
    }

    /// Logs Ana in.
    func logIn(_ more: String...) async throws -> Command.Outcome {
        try await login.run(place + more) { try await Self.signIn(at: $0) }
    }

    /// Ana at the page.
    static func signIn(at address: String, caFile: String? = nil) async throws {
        let visitor = try ScriptedBrowser(caFile: caFile)
        try await visitor.open(address)
        try await visitor.signIn(ana, anasPassword)
        if await visitor.heading == "Back to the app" { try await visitor.press("") }
    }

    /// Runs another command on the store.
    func run(_ arguments: String...) async throws -> Command.Outcome { try await run(arguments) }

    func run(_ arguments: [String]) async throws -> Command.Outcome {
        try await Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store]).runAside(in: scratch)
    }

    /// Whether there is no store.
    var hasNoStore: Bool { get throws { try !scratch.names.contains("tokenstore.db") } }
}
