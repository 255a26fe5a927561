public import ArgumentParser
import CProcess
import HTTPTransport
import Logging
import OAuth
public import SignIn
import Synchronization
import TokenManagement
import TokenStorage

/// How a command reaches an issuer.
struct NetworkArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the certificate authorities to trust. Default: $SSL_CERT_FILE, else the system's.",
            valueName: "path"
        ),
        completion: .file()
    )
    var caFile: String?

    func validate() throws {
        // Any authority of the system's would be trusted in the place of the one that was meant.
        guard caFile != "" else { throw ValidationError("--ca-file is empty", hint: "name a file, or leave it out") }
    }

    func options(_ arguments: StoreArguments) -> TokenManagerOptions {
        var options = TokenManagerOptions()
        options.logger = Logger(label: "tokenstore") { _ in StandardErrorLog(level: arguments.logLevel) }
        // As long as the caller waits, but for what there is to do then: a request that is cut off while the issuer
        // takes its time may have spent a refresh token.
        let limit = Duration.seconds(max(arguments.timeout - 1, arguments.timeout / 2, 0.1))
        options.refreshLimit = limit
        options.limits.head = limit
        options.limits.total = limit
        return options
    }

    func manager(_ store: TokenStore, client: String, _ arguments: StoreArguments) throws -> TokenManager {
        try manager(store, client: client, options(arguments))
    }

    func manager(_ store: TokenStore, client: String, _ options: TokenManagerOptions) throws -> TokenManager {
        TokenManager(store: store, clientID: client, transport: try transport(), options: options)
    }

    /// The network, once the system lets this process have the files and threads for it.
    func transport() throws -> AsyncHTTPTransport {
        try Self.isStartable.withLock { isStartable in
            guard !isStartable else { return }
            let needs = AsyncHTTPTransport.needs
            guard CProcessCanOpen(Int32(needs.files)) != 0 else {
                let hint = "allow it more with 'ulimit -n 256'"
                throw CommandFailure(.failure, "this program may not open enough files for the network", hint)
            }
            guard CProcessCanStart(Int32(needs.threads)) != 0 else {
                let hint = "end other programs, or allow more with 'ulimit -u' or in the settings of the container"
                throw CommandFailure(.failure, "the system does not let this program start threads", hint)
            }
            isStartable = true
        }
        return AsyncHTTPTransport(options: HTTPTransportOptions(caFile: caFile))
    }

    /// Whether that was found out; later requests find the network started.
    private static let isStartable = LockedValue(false)
}

/// The scopes to request.
struct ScopeArguments: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A scope to ask for; repeatable, or a list with commas or spaces. Those for an ID token and a refresh "
                + "token are added.",
            valueName: "scope"
        )
    )
    var scope: [String] = []

    func validate() throws { try Scope.requireScopes(in: scope) }

    var value: Scope { Scope(arguments: scope) }
}

extension Scope {
    /// Reads arguments, each a scope or a list with commas or spaces.
    init(arguments: [String]) {
        self.init(arguments.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) })
    }

    /// Throws if an argument names no scope, as a variable that is not set: the token would be for another API.
    static func requireScopes(in arguments: [String]) throws {
        guard arguments.allSatisfy({ !Scope(arguments: [$0]).isEmpty }) else {
            throw ValidationError("--scope is empty", hint: "give a scope, or leave it out")
        }
    }
}

extension String {
    /// The two parts of NAME=VALUE; nil where there is no name or no equals sign.
    ///
    /// Not by characters: a mark that combines with it would hide it.
    var nameAndValue: (name: String, value: String)? {
        let parts = unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty ? (String(parts[0]), String(parts[1])) : nil
    }
}

/// How the issuer's page is shown and its answer received.
struct RedirectArguments: ParsableArguments {
    @Flag(help: "Print the address of the page instead of opening it.")
    var noBrowser = false

    @Flag(help: "Show a code to enter on another device; open no browser and no port here.")
    var device = false

    @Option(
        help: ArgumentHelp(
            "The loopback address registered for the client. Default port: any free one.",
            valueName: "uri"
        ),
        transform: { try RedirectURI(argument: $0) }
    )
    var redirectURI = RedirectURI.anyPort

    @Option(help: ArgumentHelp("How the issuer returns the answer: query or form_post.", valueName: "mode"))
    var responseMode = ResponseMode.query

    @Option(
        help: ArgumentHelp(
            "How long to wait for the sign-in. Default: 300, or with --device until the code expires.",
            valueName: "seconds"
        )
    )
    var wait: Double?

    /// How long a person at a browser may take.
    var timeLimit: Duration { .seconds(wait ?? 300) }

    func validate() throws {
        guard !device || !noBrowser else {
            throw ValidationError("--device never opens a browser", hint: "leave --no-browser out")
        }
        try Self.check(redirectURI, wait: wait)
    }

    /// Checks where a browser is to come back to, and how long that is waited for; nil: as usual.
    static func check(_ redirectURI: RedirectURI?, wait: Double?) throws {
        if let wait, !(wait > 0 && wait <= 1e6) {
            throw ValidationError("--wait is not a time", hint: "give a number of seconds")
        }
        guard redirectURI?.isLoopback ?? true else {
            throw ValidationError("--redirect-uri is not on loopback", hint: "use one such as http://127.0.0.1/")
        }
    }
}

extension RedirectURI {
    /// Reads an argument; an error keeps its hint.
    init(argument text: String) throws {
        do { self = try RedirectURI(text) } catch { throw ValidationError(error) }
    }
}

extension Prompt: ExpressibleByArgument {}
extension ResponseMode: ExpressibleByArgument {}

// What the parser finds out by itself, through key paths and generic collections, at a tenth of the cost: it asks for
// all of it in every run.
extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    public static var allValueStrings: [String] {
        var names: [String] = []
        for value in allCases { names.append(value.rawValue) }
        return names
    }

    /// None has a description besides its name.
    public static var allValueDescriptions: [String: String] { [:] }

    public var defaultValueDescription: String { rawValue }
}
