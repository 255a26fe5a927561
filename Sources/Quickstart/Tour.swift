import Foundation
import HTTPTransport
import LocalIdentityProvider
import OAuth
import Sealing
import SignIn
import TokenManagement
import TokenStorage
import TokenStoreCLI

/// The tour: a provider that answers for real, and a store that is left behind to look at.
struct Tour: Sendable {
    static let client = "quickstart"

    let provider: LocalIdentityProvider
    let store: TokenStore
    private let transport = AsyncHTTPTransport()

    /// Starts an identity provider on this machine and makes a store, both for this run only.
    static func start(_ body: @Sendable (Tour) async throws -> Void) async throws {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.seed = try Seed(json: Data(World.json.utf8))
        let provider = try await LocalIdentityProvider.start(configuration)
        let directory = FileManager.default.temporaryDirectory.appending(path: "tokenstore-\(UUID().uuidString)")
        let path = StorePath(directory.appending(path: "tokenstore.db").path)
        let store = try await TokenStore.open(at: path)
        chapter("A provider and a store")
        say("  \(provider.baseURL) signs people in, by two user flows, and has two APIs")
        say("  \(path.database) is new and holds \(try await store.status().accounts) accounts")
        do {
            try await body(Tour(provider: provider, store: store))
        } catch {
            await provider.stop()
            throw error
        }
        await provider.stop()
    }

    /// Two people sign in, each by another user flow, at the provider's own pages.
    func signIn() async throws {
        chapter("Two people sign in: authorization code with PKCE, the answer on a loopback port")
        for person in World.people {
            let application = try application(person)
            let result = try await application.acquireToken(InteractiveRequest(scope: World.tasks))
            say("  \(result.account.name ?? "?") by \(result.account.userFlow ?? "?"); stored in one commit")
        }
    }

    /// One sign-in is enough for any number of APIs.
    func callAPIs() async throws {
        chapter("Tokens for two APIs, without another sign-in")
        for person in World.people {
            try await call("api1", World.tasks, person)
            try await call("api2", World.notes, person)
        }
    }

    /// The tokens of one user flow end soon on purpose.
    func outliveTokens() async throws {
        chapter("\(World.shortLifetime) seconds later Ivo's tokens have ended, and Mara's last an hour")
        try await Task.sleep(for: .seconds(World.shortLifetime))
        for person in World.people { try await call("api1", World.tasks, person) }
    }

    /// A second process is killed between its request and the answer.
    func surviveACrash() async throws {
        chapter("A process is killed in the middle of a refresh")
        let person = World.people[0]
        let before = requests
        provider.faults.add(.hang(at: "token"))
        let helper = try DoomedRefresh.spawn(store: store.path.database, flow: person.flow)
        while requests == before {
            guard helper.isRunning else { throw EarlyEnd() }
            try await Task.sleep(for: .milliseconds(20))
        }
        kill(helper.processIdentifier, SIGKILL)
        say("  kill -9 \(helper.processIdentifier), which had sent a refresh token and waited for the answer")
        say("  problems found in the store: \(try await store.check().count)")
        var request = SilentRequest(account: try await account(person).id, scope: World.tasks)
        request.forcesRefresh = true
        let result = try await application(person).acquireTokenSilently(request)
        let source = result.source == .refresh ? "a new token of the issuer's" : "a stored token"
        say("  the next refresh returns \(source): \(person.name) is still signed in")
    }

    /// Tokens and claims are sealed; what selects an account is not.
    func lookForSecrets() async throws {
        let person = World.people[0]
        let account = try await account(person)
        chapter("What \(person.name)'s account shows to someone who copies the store's files without the key")
        // What was written last is in the write-ahead log.
        let bytes = try ["", "-wal"].reduce(into: Data()) { bytes, end in
            bytes += try Data(contentsOf: URL(filePath: store.path.database + end))
        }
        let tokens = try await store.refreshTokens(of: account.id, client: Self.client).map { $0.secret.reveal() }
        let rows = [("refresh token", tokens), ("display name", [person.name]), ("username", [person.username])]
        for (what, texts) in rows {
            let isThere = texts.contains { bytes.range(of: Data($0.utf8)) != nil }
            say("  the \(what): \(isThere ? "in the clear" : "not to be found")")
        }
    }

    /// What the command line says of all this.
    func inspect() throws {
        let place = store.path.database
        let (first, second) = (World.people[0].flow, World.people[1].flow)
        for command in [["list"], ["whoami", "--policy", first], ["claims", "--policy", second, "name", "tfp"]] {
            chapter("$ tokenstore \(command.joined(separator: " "))")
            try TokenStoreProgram.run(command + ["--store", place])
        }
        chapter("The provider ends here; the store stays, look at it with")
        say("  export TOKENSTORE_PATH=\(place.shellWord)")
        say("  \(Self.program) list --tokens")
        say("  \(Self.program) explain --scope \(World.tasks.text) --policy \(first)")
        say("  \(Self.program) status")
    }

    /// How to run the program from here.
    private static var program: String {
        let path = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "tokenstore").path ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path.shellWord : "swift run tokenstore"
    }

    /// How often the token endpoint was asked.
    private var requests: Int { provider.audit.count(of: "token") }

    /// Calls an API with the best token that the store can give.
    private func call(_ path: String, _ scope: Scope, _ person: World.Person) async throws {
        let before = requests
        let api = WebAPI(url: "\(provider.baseURL)/\(path)", scope: scope)
        let transport = try await application(person).transport(to: api, as: account(person))
        let answer = try await transport.json(HTTPRequest("GET", api.url)).serialized
        say("  GET /\(path) for \(person.name), with a \(requests == before ? "stored" : "refreshed") token: \(answer)")
    }

    private func account(_ person: World.Person) async throws -> Account {
        let account = try await application(person).account(for: .userFlow(person.flow))
        guard let account else { throw MissingAccount() }
        return account
    }

    /// An app as anyone would write it; only the browser is one without a screen.
    private func application(_ person: World.Person) throws -> PublicClientApplication {
        let flows = try World.people.map { try Authority(parsing: "\(provider.baseURL)/tfp/quick.example/\($0.flow)") }
        let own = try Authority(parsing: "\(provider.baseURL)/tfp/quick.example/\(person.flow)")
        var configuration = try PublicClientConfiguration(clientID: Self.client, redirectURI: .anyPort, authority: own)
        configuration.knownAuthorities = flows
        return try PublicClientApplication(configuration, store: store, transport: transport, userAgent: person)
    }

    private struct MissingAccount: Error {}

    /// The process that was to be killed ended before.
    private struct EarlyEnd: Error {}
}
