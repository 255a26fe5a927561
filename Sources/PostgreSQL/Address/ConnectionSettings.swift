#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The settings of an address by libpq's names, from the address, its service and the environment, in this order.
struct ConnectionSettings {
    private(set) var values: [String: String] = [:]

    private static let known: Set<String> = [
        "application_name", "channel_binding", "connect_timeout", "dbname", "host", "passfile", "password", "pooler",
        "port", "schema", "service", "ssl_min_protocol_version", "sslcert", "sslcrl", "sslkey", "sslmode",
        "sslpassword", "sslrootcert", "target_session_attrs", "user",
    ]
    private static let secrets = ["password", "sslpassword"]

    subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    mutating func take(_ name: String) -> String? { values.removeValue(forKey: name) }

    mutating func takeSecrets() -> [String: Password] {
        Dictionary(
            uniqueKeysWithValues: Self.secrets.compactMap { name in take(name).map { (name, Password(text: $0)) } }
        )
    }

    // MARK: - The address

    init(url: String, origin: ServerAddress.Origin) throws(PostgreSQLError) {
        guard let rest = Self.withoutScheme(url) else {
            throw ServerAddress.refused("it does not start with postgresql://")
        }
        guard url.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw ServerAddress.refused("it has a control character")
        }
        guard !rest.contains("#") else { throw ServerAddress.refused("it has a fragment (#); write %23 for the sign") }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
        let query = rest.dropFirst(authority.count + path.count + 1)
        // An unescaped slash in a password ends it early: its rest would pass for hosts and a database, and be shown.
        guard !path.contains("@") else {
            throw ServerAddress.refused("an @ follows a slash; write @ and / in a password or a name as %40 and %2F")
        }
        try readAuthority(authority)
        if path.count > 1 { try set("dbname", Self.decoded(path.dropFirst())) }
        try readQuery(query)
        let isPublic = origin == .argument && Self.secrets.contains { values[$0] != nil }
        guard !isPublic else {
            throw ServerAddress.refused(
                "a password in an argument can be read by every user of this machine; use a password file (PGPASSFILE), a "
                    + "service, a client certificate, or TOKENSTORE_DATABASE_URL"
            )
        }
    }

    /// What follows the scheme, whose letters may be capital (RFC 3986 §3.1); nil if there is none of PostgreSQL.
    static func withoutScheme(_ url: String) -> Substring? {
        let scheme = ["postgresql://", "postgres://"].first { url.prefix($0.count).lowercased() == $0 }
        return scheme.map { url.dropFirst($0.count) }
    }

    /// Whether a word of `text` sets something, as in a keyword string of libpq: `host=db.example dbname = sessions`.
    static func hasKeyword(_ text: String) -> Bool {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.indices.contains { index in
            let name = words[index].prefix { $0 != "=" }
            let isSet = name.count < words[index].count || words[(index + 1)...].first?.first == "="
            return isSet && (known.contains(String(name)) || name == "hostaddr")
        }
    }

    private mutating func readAuthority(_ authority: Substring) throws(PostgreSQLError) {
        var places = authority
        if let at = authority.lastIndex(of: "@") {
            places = authority[authority.index(after: at)...]
            let person = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if let name = person.first, !name.isEmpty { try set("user", Self.decoded(name)) }
            if person.count == 2 { try set("password", Self.decoded(person[1])) }
        }
        guard !places.isEmpty else { return }
        var (names, ports): ([String], [String]) = ([], [])
        for place in places.split(separator: ",", omittingEmptySubsequences: false) {
            let (name, port) = try Self.place(place)
            names.append(name)
            ports.append(port)
        }
        try set("host", names.joined(separator: ","))
        if ports.contains(where: { !$0.isEmpty }) { try set("port", ports.joined(separator: ",")) }
    }

    /// `host`, `host:port`, `[address]` or `[address]:port`.
    private static func place(_ text: Substring) throws(PostgreSQLError) -> (String, String) {
        if text.first == "[" {
            guard let close = text.firstIndex(of: "]") else { throw ServerAddress.refused("a [ has no ]") }
            let rest = text[text.index(after: close)...]
            guard rest.isEmpty || rest.first == ":" else {
                throw ServerAddress.refused("a host ends with ], or with ]:port")
            }
            return (String(text[text.index(after: text.startIndex)..<close]), String(rest.dropFirst()))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw ServerAddress.refused("an IPv6 address needs brackets: [::1]") }
        let name = try decoded(parts[0])
        guard !name.contains(",") else { throw ServerAddress.refused("a host contains a comma") }
        return (name, parts.count == 2 ? String(parts[1]) : "")
    }

    private mutating func readQuery(_ query: Substring) throws(PostgreSQLError) {
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ServerAddress.refused("a parameter has no value") }
            // With a mark in it that is not escaped, a part of a password may stand here as a name.
            guard Self.known.contains(String(parts[0])) || !(query.contains("@") || query.contains("password=")) else {
                throw ServerAddress.refused("a parameter is not known; write ? and & in a password as %3F and %26")
            }
            try set(Self.decoded(parts[0]), Self.decoded(parts[1]))
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(PostgreSQLError) {
        guard Self.known.contains(name) else {
            throw ServerAddress.refused("the parameter \(name.prefix(40)) is not known")
        }
        guard values.updateValue(value, forKey: name) == nil else {
            throw ServerAddress.refused("it gives \(name) twice")
        }
    }

    private static func decoded(_ text: Substring) throws(PostgreSQLError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw ServerAddress.refused("a % is not followed by two hexadecimal digits") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
            throw ServerAddress.refused("it is not text")
        }
        return decoded
    }

    // MARK: - The service and the environment

    /// Adds what the file of services says of the service that the address or the environment names.
    mutating func addService(environment: (String) -> String?) throws(PostgreSQLError) {
        let (own, other) = (take("service"), environment("PGSERVICE"))
        guard let name = own ?? other else { return }
        guard other == nil || other == name else {
            throw ServerAddress.refused("PGSERVICE names another service, which libpq would use as well; unset it")
        }
        var files = environment("PGSERVICEFILE").map { [$0] } ?? []
        if files.isEmpty, let home = environment("HOME") { files.append(home + "/.pg_service.conf") }
        // Debian's directory for libpq, where the environment names no other.
        files.append((environment("PGSYSCONFDIR") ?? "/etc/postgresql-common") + "/pg_service.conf")
        for file in files {
            guard let text = ProcessEnvironment.contents(ofFile: file) else { continue }
            guard let found = try Self.service(name, in: text) else { continue }
            values.merge(found) { own, _ in own }
            return
        }
        throw ServerAddress.refused("the service \(name) is in none of \(files.joined(separator: ", "))")
    }

    private static func service(_ name: String, in text: String) throws(PostgreSQLError) -> [String: String]? {
        var found: [String: String]?
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline).map({ trimmed($0) }) where line.first != "#" {
            if line.isEmpty { continue }
            if line.first == "[" {
                // As libpq does: neither a second part of the same name nor a second value counts.
                if let found { return found }
                isInside = line == "[\(name)]"
                if isInside { found = [:] }
                continue
            }
            guard isInside else { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // A line without a sign may be a part of anything.
            guard parts.count == 2 else { throw ServerAddress.refused("the service \(name) has a line without =") }
            guard known.contains(String(parts[0])), parts[0] != "service" else {
                throw ServerAddress.refused("the service \(name) sets \(parts[0].prefix(40)), which is not known")
            }
            if found?[String(parts[0])] == nil { found?[String(parts[0])] = String(parts[1]) }
        }
        return found
    }

    private static func trimmed(_ line: Substring) -> Substring {
        let start = line.drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }

    /// Adds what libpq's variables say; what it would take from them besides is refused where it leads elsewhere.
    mutating func addEnvironment(_ environment: (String) -> String?) throws(PostgreSQLError) {
        guard environment("PGHOSTADDR") == nil else {
            throw ServerAddress.refused("PGHOSTADDR is set, which sends every connection to another host; unset it")
        }
        let variables = [
            ("host", "PGHOST"), ("port", "PGPORT"), ("dbname", "PGDATABASE"), ("user", "PGUSER"),
            ("password", "PGPASSWORD"), ("passfile", "PGPASSFILE"), ("sslrootcert", "PGSSLROOTCERT"),
            ("sslcert", "PGSSLCERT"), ("sslcrl", "PGSSLCRL"), ("sslkey", "PGSSLKEY"), ("sslmode", "PGSSLMODE"),
        ]
        for (name, variable) in variables where values[name] == nil { values[name] = environment(variable) }
    }

    /// The hosts with their ports: one for all of them, or one for each.
    mutating func hosts() throws(PostgreSQLError) -> [ServerAddress.Host] {
        let names = (take("host") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (take("port") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard ports.count == 1 || ports.count == names.count else {
            throw ServerAddress.refused("it has \(names.count) hosts and \(ports.count) ports")
        }
        guard names.count == 1 || !names.contains("") else { throw ServerAddress.refused("a host is empty") }
        var hosts: [ServerAddress.Host] = []
        for (index, name) in names.enumerated() {
            let text = ports.count == 1 ? ports[0] : ports[index]
            guard let port = text.isEmpty ? 5432 : UInt16(text), port > 0 else {
                throw ServerAddress.refused("a port is not a number from 1 to 65535")
            }
            hosts.append(ServerAddress.Host(name: String(name), port: port))
        }
        return hosts
    }
}

/// What the process was given from outside.
package enum ProcessEnvironment {
    /// An environment variable, unless it is empty.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The home directory that the system records for the user.
    package static var recordedHome: String? {
        var user = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Into memory of its own: what `getpwuid` returns, another thread's call overwrites.
        var texts = [CChar](repeating: 0, count: 16_384)
        return texts.withUnsafeMutableBufferPointer { texts in
            guard let start = texts.baseAddress,
                getpwuid_r(geteuid(), &user, start, texts.count, &found) == 0, found != nil,
                let directory = user.pw_dir
            else { return nil }
            return String(cString: directory)
        }
    }

    static func contents(ofFile path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A password, which no description shows.
struct Password: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String

    var description: String { "…" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
