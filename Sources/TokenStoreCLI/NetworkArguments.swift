import ArgumentParser
import HTTPTransport
import Logging
import TokenManagement
import TokenStorage

/// How a command reaches an issuer.
struct NetworkArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the authorities to trust. Default: $SSL_CERT_FILE, else the system's.",
            valueName: "path"
        ),
        completion: .file()
    )
    var caFile: String?

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

    func manager(_ store: TokenStore, client: String, _ arguments: StoreArguments) -> TokenManager {
        let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: caFile))
        return TokenManager(store: store, clientID: client, transport: transport, options: options(arguments))
    }
}
