import Database
import OAuth
import Sealing
import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server that this run starts, with a store on it.
struct FleetServer: Sendable {
    /// How a program reaches a server on its own machine.
    enum Way: String, CaseIterable {
        case socket = "Unix socket"
        case tcp = "TCP"
        case tls = "TCP with TLS"
    }

    let server: TestServer
    let options: StoreOptions

    private static let schema = "tokenstore"
    /// A role that no password is asked of over TCP.
    private static let role = "trusted"

    /// Starts a server that keeps what it has committed, and makes a store with its key in a directory of the run.
    init(_ bench: Bench, _ settings: [String] = []) throws {
        let folder = try Self.makeCertificate()
        // The server has read them when it has started.
        defer { _ = try? Shell.run("/bin/rm", "-rf", folder) }
        let security = ["ssl = on", "ssl_cert_file = '\(folder)/chain'", "ssl_key_file = '\(folder)/key'"]
        try self.init(bench, on: TestServer(["fsync = on"] + settings + security))
    }

    /// Makes a store on a server that is there.
    init(_ bench: Bench, on server: TestServer) throws {
        self.server = server
        var options = StoreOptions()
        options.environment = [:]
        options.keySource = .file(try bench.place("fleet-\(UUID().uuidString)").directory + "/key")
        options.poolSize = 16
        self.options = options
        let location = StoreLocation(try server.address(schema: Self.schema))
        try TokenStore.create(at: location, options: options, granting: ServerRoles(application: Self.role))
    }

    /// The same store on another server that has its rows.
    init(_ other: FleetServer, on server: TestServer) { (self.server, options) = (server, other.options) }

    func stop() { server.stop() }

    /// The directory of a certificate and its key, which a server takes only from a place of its own.
    private static func makeCertificate() throws -> String {
        guard PrivateAuthority.isAvailable else { throw BenchFailure("openssl is missing, which makes certificates") }
        let authority = try PrivateAuthority()
        let folder = "/tmp/tokenstore-tls-\(UUID().uuidString.prefix(8))"
        let script = """
            mkdir -m 700 "$0"; cat "$1" > "$0/chain"; cat "$2" > "$0/key"; chmod 600 "$0/key"
            if [ "$(id -u)" = 0 ]; then chown -R nobody:nogroup "$0"; fi
            """
        try Shell.run("/bin/sh", "-c", script, folder, authority.chain, authority.key)
        return folder
    }

    /// Where programs find the store; with a port, by way of what listens there.
    func location(_ way: Way = .socket, port: Int? = nil) throws -> StoreLocation {
        guard way == .tcp || way == .tls || port != nil else {
            return StoreLocation(try server.address(schema: Self.schema))
        }
        return try StoreLocation(
            "postgresql://\(Self.role)@127.0.0.1:\(port ?? server.port)/tests?schema=\(Self.schema)"
                + "&sslmode=\(way == .tls ? "require" : "disable")"
        )
    }

    /// The place as an argument of a program.
    var text: String {
        "postgresql://owner@/tests?host=\(server.directory)&port=\(server.port)&schema=\(Self.schema)"
    }

    /// The same place as a connection string for the floor.
    func settings(_ way: Way = .socket, port: Int? = nil) -> String {
        let path = "dbname=tests options='-c search_path=\(Self.schema)'"
        if way == .socket, port == nil { return "host=\(server.directory) port=\(server.port) user=owner " + path }
        let mode = way == .tls ? "require" : "disable"
        return "host=127.0.0.1 port=\(port ?? server.port) user=\(Self.role) sslmode=\(mode) " + path
    }

    func open(_ way: Way = .socket, port: Int? = nil) throws -> TokenStore {
        try TokenStore.open(at: location(way, port: port), options: options)
    }

    /// A connection as the owner of the tables.
    func connect() throws -> PostgreSQL.Connection { try .init(to: server.address(schema: Self.schema)) }

    /// Asks as the owner of the tables.
    func integer(_ question: String, _ values: Value...) throws -> Int64? {
        try connect().prepare(question).first(values) { $0.optionalInteger(0) } ?? nil
    }

    /// The row of an account.
    func row(of account: SampleAccount) throws -> Int64 {
        let question = "SELECT id FROM account WHERE account_key = $1"
        guard let row = try integer(question, .text(account.id.key)) else {
            throw BenchFailure("the server has no account \(account.number)")
        }
        return row
    }

    /// How many entries of the record are about an account.
    func entries(of account: SampleAccount) throws -> Int {
        let question = "SELECT count(*) FROM event e JOIN account a ON a.id = e.account_id WHERE a.account_key = $1"
        return Int(try integer(question, .text(account.id.key)) ?? 0)
    }

    /// Fills the store with made-up accounts, and lets the server see how many.
    func fill(_ accounts: Range<Int>, accessTokens: Int) throws {
        let store = try open()
        var start = accounts.lowerBound
        while start < accounts.upperBound {
            let end = min(start + 2_000, accounts.upperBound)
            let document = MSALDocument(accounts: start..<end, accessTokens: accessTokens).bytes
            _ = try document.withUnsafeBytes { try store.importMSALCache($0) }
            start = end
        }
        try connect().execute("VACUUM ANALYZE")
    }
}
