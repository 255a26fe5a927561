import Database
import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TokenStorage

/// A provider, and a store with a person signed in, for the program itself to use.
struct IssuerScene: Sendable {
    static let scope: Scope = "api://todolist/ToDoList.Read"

    let provider: LocalIdentityProvider
    let scratch: ScratchDirectory
    private let caFile: String?

    /// The number of requests to the token endpoint since the sign-in.
    var tokenRequestCount: Int { provider.audit.count(of: "token") }

    /// Runs `body` with a person whose access token has `lifetime` seconds left, and is worth refreshing if `isAging`,
    /// at an issuer that ends a session when a refresh token is used twice.
    static func open(
        lifetime: Int64,
        isAging: Bool = false,
        authority: PrivateAuthority? = nil,
        _ body: (IssuerScene) async throws -> Void
    ) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.refreshGrace = 0
        configuration.tls = authority.map { .init(chain: $0.chain, key: $0.key) }
        try await LocalIdentityProvider.running(configuration) { provider in
            let scene = IssuerScene(provider: provider, scratch: try ScratchDirectory(), caFile: authority?.path)
            try await scene.signIn(lifetime: lifetime, isAging: isAging)
            try await body(scene)
        }
    }

    /// Signs the person in anew.
    func signIn(
        lifetime: Int64,
        isAging: Bool = false,
        _ change: @escaping @Sendable (inout TokenResponse) -> Void = { _ in }
    ) async throws {
        let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: caFile))
        let login = Login(provider: provider, transport: transport)
        let store = try await TokenStore.open(at: StorePath(scratch.store))
        try await login.signIn(to: store, client: "pwd-app", scope: Self.scope) {
            $0.expiresIn = .seconds(lifetime)
            change(&$0)
        }
        if isAging { try store.withWriter { try $0.update("access_token", set: "refresh_on = 1") } }
        provider.audit.reset()
    }

    /// Stores a session of another client for the same person, or of another person.
    func addClient(_ client: String, uid: String? = nil, lifetime: Int64 = 3_600) throws {
        let store = try TokenStore.open(at: StorePath(scratch.store))
        guard let account = try store.accounts().first else { throw ExpectationFailure("an account") }
        var response = TokenResponse(accessToken: Secret("at_other"), expiresIn: .seconds(lifetime))
        response.refreshToken = Secret("rt_other")
        response.clientInfo = account.tenantProfiles.isEmpty ? nil : Self.clientInfo(of: account, uid)
        let authority = try Authority(parsing: provider.baseURL + "/fabrikvine.onmicrosoft.com")
        try store.save(
            response,
            for: TokenRequest(clientID: client, authority: authority, scope: Self.scope, grant: .authorizationCode)
        )
    }

    private static func clientInfo(of account: Account, _ uid: String?) -> String {
        Base64URL.encode(#"{"uid":"\#(uid ?? account.uid ?? "")","utid":"\#(account.utid ?? "")"}"#.utf8)
    }

    /// Runs a command.
    func run(_ arguments: String...) async throws -> Command.Outcome { try await run(arguments) }

    /// Runs `token` in `count` processes at once.
    func tokens(_ count: Int, _ arguments: String...) async throws -> [Command.Outcome] {
        try await withThrowingTaskGroup(of: Command.Outcome.self) { group in
            for _ in 0..<count {
                group.addTask { try await run(["token", "--scope", Self.scope.text] + arguments) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Runs a command with more in its environment.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Command.Outcome {
        let environment = ["TOKENSTORE_PATH": scratch.store].merging(environment) { $1 }
        let command = Command(arguments: arguments, environment: environment)
        return try await command.runAside(in: scratch)
    }
}

extension IssuerScene {
    /// Starts `token` and does not wait for it.
    func start(_ arguments: String...) throws -> StartedCommand { try start(arguments) }

    func start(_ arguments: [String], errors: String = "/dev/null") throws -> StartedCommand {
        try StartedCommand(
            ["token", "--scope", Self.scope.text] + arguments,
            environment: ["TOKENSTORE_PATH": scratch.store],
            in: scratch,
            errors: errors
        )
    }

    /// Returns once a route has seen a request.
    func waitForRequest(at route: String) async throws {
        try await eventually("a request at \(route)") { provider.audit.count(of: route) > 0 }
    }

    /// Returns once a refresh token is about to be sent.
    func waitForIntent() async throws {
        let connection = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        try await eventually("an intent") {
            try connection.integer("SELECT count(*) FROM refresh_attempt") ?? 0 > 0
        }
    }
}
