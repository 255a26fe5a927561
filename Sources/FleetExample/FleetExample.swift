import ArgumentParser
import Foundation
import Hummingbird
import Logging
import TokenStoreKit

/// `FleetExample`: a web app that signs people in and calls an API for them, as one process of any number.
///
/// Nothing that a browser comes back for is in the memory of a process: tokens and sessions are in the store, and a
/// sign-in under way is in a sealed cookie.
@main
struct FleetExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FleetExample",
        abstract: "A small web app; any number of processes of it share one store.",
        discussion: """
            Each process answers plain http on loopback. Before the outside world stands a proxy with TLS, whose address \
            is --public-url.
            """
    )

    @Option(help: "Where to answer: 127.0.0.1:PORT or [::1]:PORT.") var listen = "127.0.0.1:8081"
    @Option(help: "The address that browsers know the app by. (default: where this process answers)")
    var publicURL: String?
    @Option(help: "The store, postgresql://… or a file. (default: $TOKENSTORE_PATH, $TOKENSTORE_DATABASE_URL)")
    var store: String?
    @Option(help: "Where the store's key comes from. (default: what the store records)") var key: String?
    @Option(help: "A file of 32 bytes in base64, the same for each process, that cookies are sealed with.")
    var cookieKey: String
    @Option(help: "Who signs people in.") var issuer: String
    @Option(name: .customLong("client-id"), help: "The client that the issuer knows the app as.") var client: String
    @Option(help: "The API that is called for who is signed in.") var api: String
    @Option(help: "The scope of the API.") var scope: String

    func validate() throws {
        guard Self.address(listen) != nil else {
            throw ValidationError("--listen is 127.0.0.1:PORT or [::1]:PORT; plain http is for loopback alone")
        }
    }

    func run() async throws {
        var options = StoreOptions(keySource: try key.map { try KeySource(parsing: $0) })
        // A person who waits for a page is told sooner than a program that the store does not answer.
        options.busyTimeout = .seconds(5)
        let store = try await TokenStore.open(at: location, options: options)
        let router = Router()
        try site(store).addRoutes(to: router)
        let (host, port) = Self.address(listen) ?? ("127.0.0.1", 0)
        var logger = Logger(label: "fleet-example")
        logger.logLevel = .notice
        let application = Application(
            router: router,
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { [listen] _ in
                print("listening at http://\(listen)")
                fflush(nil)
            },
            logger: logger
        )
        // Returns at SIGINT or SIGTERM, once the requests that came before are answered.
        try await application.runService()
        // A refresh that is under way still gets its answer into the store.
        await store.finishAnswers()
    }

    private var location: StoreLocation {
        get throws {
            // Every user of the machine can read the arguments of a program, so a password in them is refused.
            if let store { return try StoreLocation(store, isArgument: true) }
            return try .standard(environment: ProcessInfo.processInfo.environment)
        }
    }

    private func site(_ store: TokenStore) throws -> Site {
        let url = publicURL ?? "http://\(listen)"
        let configuration = try PublicClientConfiguration(
            clientID: client,
            // It refuses plain http beyond loopback.
            redirectURI: RedirectURI(url + "/callback"),
            authority: Authority(issuer: issuer)
        )
        let cookies = try SealedCookies(keyFile: cookieKey, isSecure: url.lowercased().hasPrefix("https:"))
        return Site(
            application: try PublicClientApplication(configuration, store: store, transport: AsyncHTTPTransport()),
            api: WebAPI(url: api, scope: Scope(scope)),
            cookies: cookies,
            sessions: Sessions(store: store, cookies: cookies),
            node: "process \(ProcessInfo.processInfo.processIdentifier) at \(listen)"
        )
    }

    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        switch text[..<colon] {
        case "127.0.0.1": return ("127.0.0.1", port)
        case "[::1]": return ("::1", port)
        default: return nil
        }
    }
}
