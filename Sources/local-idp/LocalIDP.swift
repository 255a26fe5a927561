import ArgumentParser
import Dispatch
import Foundation
import LocalIdentityProvider
import OAuth

/// `local-idp`: serves the development identity provider until it is interrupted.
@main
struct LocalIDP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local-idp",
        abstract: "An OAuth 2.0 and OpenID Connect issuer on loopback, for development and tests.",
        discussion: """
            Prints one line of JSON with its addresses, then answers until it is interrupted. Everything is kept in \
            memory. It listens on 127.0.0.1 and ::1 and refuses any other address.
            """
    )

    @Option(help: "The port; 0 picks a free one.") var port = 8470
    @Option(help: "A loopback address; give it twice for both families. (default: 127.0.0.1 and ::1)")
    var host: [String] = []
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Two PEM files: the certificate chain and its key.", valueName: "cert> <key")
    )
    var tls: [String] = []
    @Option(help: "A JSON file of tenants, clients, policies, users and APIs.") var seed: String?
    @Option(help: "Enables /admin for requests with this x-admin-key; \"random\" makes a key.") var adminKey: String?
    @Option(help: "Seconds in which a repeat of a used refresh token gets the same answer; 0 ends the family.")
    var refreshGrace = 10.0
    @Flag(help: "Also serves a sample claims provider, for every client that has none.")
    var sampleClaims = false
    @Flag(help: "Every DPoP proof has to repeat a nonce of the provider.")
    var dpopNonce = false
    @Flag(help: "Prints the seed that is used without --seed, and ends.") var printSeed = false

    func validate() throws {
        guard tls.isEmpty || tls.count == 2 else { throw ValidationError("--tls takes two files: CERT KEY") }
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        // As of a variable that is not set: whoever sends no key would have it.
        guard adminKey != "" else { throw ValidationError("--admin-key is empty; \"random\" makes a key") }
        guard refreshGrace >= 0 else { throw ValidationError("--refresh-grace is 0 or more") }
    }

    func run() async throws {
        guard !printSeed else { return print(Seed.standardJSON) }
        var configuration = try configuration()
        let claims = sampleClaims ? try await SampleClaimsServer.start() : nil
        try claims?.serve(&configuration)
        let provider = try await LocalIdentityProvider.start(configuration)
        provider.proofs.set { $0.demandsNonce = dpopNonce }
        var members = JSONValue.Object([
            ("addresses", .array(provider.addresses.map(JSONValue.string))),
            ("note", "development provider: loopback only, in memory, do not use real passwords"),
        ])
        members["adminKey"] = configuration.adminKey.map(JSONValue.string)
        members["claimsProvider"] = (claims?.url).map(JSONValue.string)
        print(JSONValue.object(members).serialized)
        fflush(nil)
        await InterruptHandler.wait()
        await provider.stop()
        await claims?.stop()
    }

    private func configuration() throws -> LocalIdentityProvider.Configuration {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.port = port
        if !host.isEmpty { configuration.hosts = host }
        if tls.count == 2 { configuration.tls = .init(chain: tls[0], key: tls[1]) }
        if let seed { configuration.seed = try Self.seed(in: seed) }
        configuration.adminKey = adminKey == "random" ? UUID().uuidString : adminKey
        configuration.refreshGrace = refreshGrace
        return configuration
    }

    private static func seed(in path: String) throws -> Seed {
        let json: Data
        do {
            json = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw StartError.seed("\(path) cannot be read")
        }
        return try Seed(json: json)
    }
}

/// The end that a person or a supervisor asks for.
enum InterruptHandler {
    /// Returns at the first SIGINT or SIGTERM.
    static func wait() async {
        let (interruptions, continuation) = AsyncStream<Void>.makeStream()
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in interruptions { break }
        for source in sources { source.cancel() }
    }
}
