/// Where a store on a PostgreSQL server is, and how to get there.
///
/// Printing an address shows hosts, database and schema, and nothing that lets anyone in. ``fullDescription`` is for a
/// program that is to reach the same store.
package struct ServerAddress: Hashable, Sendable {
    /// In the order in which they are tried.
    package let hosts: [Host]
    package let database: String
    /// The schema that holds the store's tables.
    package let schema: String
    package let pooler: Pooler
    package private(set) var target: Target
    private(set) var isForWriting = false
    /// How long one host may take to accept a connection.
    package let connectPatience: Duration
    /// Settings of libpq that are passed on as they are.
    let settings: [String: String]
    let secrets: [String: Password]
    private let spelling: Spelling

    package struct Host: Hashable, Sendable {
        /// A name, an IP address or the directory of a Unix socket; empty for libpq's own directory.
        package let name: String
        package let port: UInt16
    }

    /// What stands between the store and the server.
    package enum Pooler: String, Sendable {
        case none
        /// A pooler that gives each transaction another session, such as pgbouncer.
        case transaction
    }

    /// The servers that are good enough: `target_session_attrs` of libpq.
    package enum Target: String, Sendable, CaseIterable {
        case any
        case readWrite = "read-write"
        case readOnly = "read-only"
        case primary
        case standby
        case preferStandby = "prefer-standby"
    }

    /// Where the text of an address comes from.
    package enum Origin: Sendable {
        /// An argument, which every user of the machine can read and a shell remembers: a password is refused.
        case argument
        /// An environment variable or a program's own configuration.
        case environment
    }

    static let defaultSchema = "tokenstore"

    /// Reads `postgresql://[user[:password]@][host[:port][,…]]/database[?name=value&…]`.
    ///
    /// What the address leaves open comes from its service (`service=`), then from libpq's environment variables.
    /// Without `verify-full` only Unix sockets and loopback addresses are accepted.
    package init(
        _ text: String,
        origin: Origin,
        environment: (String) -> String? = ProcessEnvironment.variable
    ) throws(PostgreSQLError) {
        var settings = try ConnectionSettings(url: text, origin: origin)
        let service = settings["service"]
        try settings.addService(environment: environment)
        let modeName = settings["sslmode"] == nil ? "PGSSLMODE" : "sslmode"
        try settings.addEnvironment(environment)
        let given = settings.values
        hosts = try settings.hosts()
        guard let database = settings.take("dbname"), !database.isEmpty else {
            throw Self.refused("it names no database; write postgresql://host/database")
        }
        self.database = database
        spelling = Spelling(hosts, database, given, service: service)
        schema = try Self.schema(settings.take("schema"))
        pooler = try Self.value(settings.take("pooler"), "pooler") ?? .none
        target = try Self.value(settings.take("target_session_attrs"), "target_session_attrs") ?? .readWrite
        connectPatience = try Self.patience(settings.take("connect_timeout"))
        settings["sslmode"] = try Self.transportSecurity(settings.take("sslmode"), modeName, hosts)
        secrets = settings.takeSecrets()
        self.settings = settings.values
    }

    /// The address for a program that writes, too: to it a standby is of little use, or of none.
    package var forWriting: ServerAddress {
        var address = writable(insteadOf: [.preferStandby])
        address.isForWriting = true
        return address
    }

    /// The address for reading what decides a write, which a standby may not have yet.
    package var forDeciding: ServerAddress { writable(insteadOf: [.preferStandby, .any]) }

    private func writable(insteadOf targets: [Target]) -> ServerAddress {
        var address = self
        if targets.contains(target) { address.target = .readWrite }
        return address
    }

    /// Whether every host is this machine.
    package var isLocal: Bool { hosts.allSatisfy(\.isLocal) }

    static func refused(_ problem: String) -> PostgreSQLError {
        PostgreSQLError(.address, "the address of the server cannot be used: \(problem)")
    }

    /// Off this machine nothing less proves which server answers; `name` is where the mode comes from.
    private static func transportSecurity(
        _ mode: String?,
        _ name: String,
        _ hosts: [Host]
    ) throws(PostgreSQLError) -> String {
        let modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
        if let mode, !modes.contains(mode) {
            throw refused("\(name) is none of \(modes.joined(separator: ", "))")
        }
        if hosts.allSatisfy(\.isLocal) { return mode ?? "prefer" }
        guard mode == nil || mode == "verify-full" else {
            throw refused(
                "\(name) must be verify-full, as anything less does not prove which server answers; only Unix sockets "
                    + "and loopback addresses need no TLS"
            )
        }
        return "verify-full"
    }

    private static func schema(_ name: String?) throws(PostgreSQLError) -> String {
        guard let name else { return defaultSchema }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isName = name.utf8.allSatisfy {
            letters.contains($0) || $0 == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isName, let first = name.utf8.first, letters.contains(first) || first == UInt8(ascii: "_"),
            name.utf8.count < 64, !name.hasPrefix("pg_")
        else {
            throw refused("schema must be a name of small letters, digits and _ that does not start with pg_")
        }
        return name
    }

    private static func patience(_ seconds: String?) throws(PostgreSQLError) -> Duration {
        guard let seconds else { return .seconds(3) }
        guard let number = Int(seconds), (1...600).contains(number) else {
            throw refused("connect_timeout must be a number of seconds from 1 to 600")
        }
        return .seconds(number)
    }

    private static func value<Choice: RawRepresentable<String>>(
        _ text: String?,
        _ name: String
    ) throws(PostgreSQLError) -> Choice? {
        guard let text else { return nil }
        guard let choice = Choice(rawValue: text) else { throw refused("\(name) has a value that is not known") }
        return choice
    }
}

extension ServerAddress.Host {
    package var isSocket: Bool { name.isEmpty || name.hasPrefix("/") || name.hasPrefix("@") }

    /// A Unix socket or a loopback address: what is sent there does not leave the machine.
    package var isLocal: Bool { isSocket || !loopbackAddresses.isEmpty }

    /// The addresses that the name stands for, without asking anyone, if that is this machine.
    var loopbackAddresses: [String] {
        if name == "localhost" { return ["127.0.0.1", "::1"] }
        if name == "::1" { return [name] }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil } ? [name] : []
    }
}

extension ServerAddress {
    /// The file of passwords that is looked into; nil where the address or the environment gives the password.
    package var passwordFile: String? { PasswordFile(of: self).path }

    /// Whether `text` is meant as the address of a server, right or wrong, and not as the path of a file.
    ///
    /// What looks like an address may hold a password, which would be shown as the name of a file.
    package static func isMeant(by text: String) -> Bool {
        let text = text.drop(while: \.isWhitespace)
        let head = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        let start = String(decoding: head, as: UTF8.self).lowercased()
        if start.hasPrefix("postgresql:") || start.hasPrefix("postgres:") { return true }
        if start.hasSuffix(":"), text.utf8.dropFirst(head.count).starts(with: "//".utf8) { return true }
        return ConnectionSettings.hasKeyword(start)
    }

    /// Whether `text` begins as every address does.
    package static func hasScheme(_ text: String) -> Bool { ConnectionSettings.withoutScheme(text) != nil }
}

extension ServerAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Hosts, database and schema, as an address.
    package var description: String {
        let places = hosts.map { $0.port == 5432 ? $0.spelledName : "\($0.spelledName):\($0.port)" }
        let suffix = schema == Self.defaultSchema ? "" : "?schema=\(schema)"
        return "postgresql://\(places.joined(separator: ","))/\(database.percentEncoded)\(suffix)"
    }

    /// All that was given, by the address, its service and the environment, but for passwords.
    ///
    /// Reading it again gives an equal address, but for a password.
    package var fullDescription: String { spelling.text }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}

/// An address written out; two addresses may be equal and be written in other ways, as with and without a port.
private struct Spelling: Hashable, Sendable {
    let text: String

    init(_ hosts: [ServerAddress.Host], _ database: String, _ given: [String: String], service: String?) {
        // No host at all and an empty one differ: libpq's variable takes the place of the first.
        let isEmptyHost = given["host"] != nil && hosts.allSatisfy(\.name.isEmpty)
        let showsPort = given["port"] != nil || isEmptyHost
        let places = hosts.map { showsPort ? "\($0.spelledName):\($0.port)" : $0.spelledName }
        var parameters = given.filter { !Self.ofOwnPlace.contains($0.key) }
        parameters["service"] = service
        var person = ""
        if let user = given["user"] {
            if user.isEmpty { parameters["user"] = user } else { person = user.percentEncoded + "@" }
        }
        let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.percentEncoded)" }
        text =
            "postgresql://\(person)\(places.joined(separator: ","))/\(database.percentEncoded)"
            + (query.isEmpty ? "" : "?") + query.joined(separator: "&")
    }

    /// Settings that are not written as parameters: they stand before those, or are left out.
    private static let ofOwnPlace: Set = ["dbname", "host", "password", "port", "sslpassword", "user"]

    static func == (_: Spelling, _: Spelling) -> Bool { true }

    func hash(into _: inout Hasher) {}
}

extension ServerAddress.Host {
    /// The name as it stands in an address: an IPv6 address in brackets, the directory of a socket percent-encoded.
    fileprivate var spelledName: String {
        name.contains(":") && name.unicodeScalars.allSatisfy(Self.isOfIPv6) ? "[\(name)]" : name.percentEncoded
    }

    private static func isOfIPv6(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ":", ".", "%": true
        default: false
        }
    }
}

extension String {
    /// The text with all but the unreserved characters of RFC 3986 §2.3 percent-encoded.
    fileprivate var percentEncoded: String {
        utf8.reduce(into: "") { text, byte in
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
