import CPostgreSQL

/// Opens connections to the hosts of an address, one after another; each of them, and all together, have to accept within
/// a time limit.
struct Connector {
    let address: ServerAddress
    let options: Connection.Options
    let library: Library

    /// Whether the session is the program's own, and not one that a pooler gives to others too; an error for which the
    /// next host is tried.
    typealias Judge = (Pipeline) throws(PostgreSQLError) -> Bool

    /// Connects to the first host that accepts, of the kind that the address asks for, and that `judge` lets pass.
    func connect(_ judge: Judge) throws(PostgreSQLError) -> Pipeline {
        let hosts = address.hosts.flatMap { host in places(of: host).map { (host, $0) } }
        let tries = address.targets.flatMap { target in
            hosts.indices.map { (number: $0, host: hosts[$0].0, place: hosts[$0].1, target: target) }
        }
        let end = ContinuousClock.now + options.connectLimit
        var failures: [PostgreSQLError] = []
        // Hosts that are not asked for a server of another kind.
        var absent: Set<Int> = []
        for (index, next) in tries.enumerated() where !absent.contains(next.number) {
            // What one leaves of the time is for those behind it.
            let patience = min(address.connectPatience, max(.zero, end - .now) / (tries.count - index))
            do throws(PostgreSQLError) {
                return try connect(to: next.host, at: next.place, next.target, within: patience, judge)
            } catch {
                guard error.isOfOneHost else { throw error }
                failures.append(error)
                if error.code != .wrongKindOfServer { absent.insert(next.number) }
            }
        }
        throw Self.summary(failures)
    }

    /// The most telling failure: one that a server answered rather than one of a host where nothing listens.
    private static func summary(_ failures: [PostgreSQLError]) -> PostgreSQLError {
        let telling = failures.last { $0.code != .unreachable } ?? failures.last
        guard let telling else { return ServerAddress.refused("it names no host") }
        var messages: [String] = []
        for failure in failures where !messages.contains(failure.message) { messages.append(failure.message) }
        return PostgreSQLError(telling.code, messages.joined(separator: "; "), state: .lost)
    }

    /// The addresses of a loopback name, so that no resolver decides what counts as this machine; else nil, for libpq.
    private func places(of host: ServerAddress.Host) -> [String?] {
        host.loopbackAddresses.isEmpty ? [nil] : host.loopbackAddresses
    }

    private func connect(
        to host: ServerAddress.Host,
        at place: String?,
        _ target: ServerAddress.Target,
        within patience: Duration,
        _ judge: Judge
    ) throws(PostgreSQLError) -> Pipeline {
        try RevocationList(of: address, for: host)?.requireUsable(by: library)
        guard let handle = start(parameters(host, place, target)) else {
            throw PostgreSQLError(.unreachable, "there is no memory for a connection", state: .lost)
        }
        // libpq would print a server's notices.
        _ = library.call.pointee.PQsetNoticeReceiver(handle, { _, _ in }, nil)
        // The server's code stands in verbose messages alone.
        _ = library.call.pointee.PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        do throws(PostgreSQLError) {
            try finish(handle, host, within: patience)
            try checkVersion(handle)
        } catch {
            library.call.pointee.PQfinish(handle)
            throw error
        }
        let call = library.call
        guard call.pointee.PQsetnonblocking(handle, 1) == 0, call.pointee.PQenterPipelineMode(handle) == 1 else {
            call.pointee.PQfinish(handle)
            throw PostgreSQLError(.unsupported, "libpq does not enter pipeline mode", state: .lost)
        }
        let pipeline = Pipeline(handle, to: address, library: library, patience: options.patience)
        do throws(PostgreSQLError) {
            let isOwn = try judge(pipeline) && address.pooler == .none
            if isOwn, call.pointee.PQserverVersion(handle) >= 170_000 { try liftLimit(of: pipeline) }
        } catch {
            pipeline.close()
            throw error
        }
        return pipeline
    }

    /// Lifts the limit of time that servers from version 17 on have for a transaction.
    ///
    /// Older ones refuse a session whose start names it. It is sent ahead of the next question, and not waited for.
    private func liftLimit(of pipeline: Pipeline) throws(PostgreSQLError) {
        do {
            let setting = Prepared("SET transaction_timeout = 0", isKept: false)
            try pipeline.send(setting, [], role: .hint, number: nil, answer: nil)
            try pipeline.synchronize()
        } catch {
            throw pipeline.lose()
        }
    }

    private func start(_ parameters: [(String, String)]) -> OpaquePointer? {
        let texts = parameters.map { (CString($0), CString($1)) }
        return withExtendedLifetime(texts) {
            let keywords = texts.map { Optional($0.0.start) } + [nil]
            let values = texts.map { Optional($0.1.start) } + [nil]
            return library.call.pointee.PQconnectStartParams(keywords, values, 0)
        }
    }

    /// Does what libpq asks for until the connection stands.
    private func finish(
        _ handle: OpaquePointer,
        _ host: ServerAddress.Host,
        within patience: Duration
    ) throws(PostgreSQLError) {
        let call = library.call
        let deadline = ContinuousClock.now + patience
        var isWriting = true
        guard call.pointee.PQstatus(handle) != CONNECTION_BAD else { throw refused(handle, host) }
        while true {
            let socket = call.pointee.PQsocket(handle)
            switch Socket.wait(socket, forReading: !isWriting, forWriting: isWriting, until: deadline) {
            case .ready: break
            case .failed: throw refused(handle, host)
            case .late:
                let place = host.isSocket ? "the server on this machine" : "the server \(host.name):\(host.port)"
                // More time of the address would not help where the caller's was cut.
                let isCut = patience < address.connectPatience
                let problem = "\(place) did not answer in \(isCut ? "time" : "\(patience)")"
                throw PostgreSQLError(isCut ? .timedOut : .notConnected, problem, state: .lost)
            }
            switch call.pointee.PQconnectPoll(handle) {
            case PGRES_POLLING_READING: isWriting = false
            case PGRES_POLLING_WRITING: isWriting = true
            case PGRES_POLLING_OK: return
            default: throw refused(handle, host)
            }
        }
    }

    private func refused(_ handle: OpaquePointer, _ host: ServerAddress.Host) -> PostgreSQLError {
        let reported = library.text(library.call.pointee.PQerrorMessage(handle)) ?? ""
        if reported.contains("no password supplied"), passwordFile.isOpenToOthers, let path = passwordFile.path {
            return PostgreSQLError(
                .passwordFile,
                "the server asks for a password, and others may use the password file \(path), so that it is not read",
                state: .lost
            )
        }
        return .refusedConnection(reported, address, host)
    }

    private var passwordFile: PasswordFile { PasswordFile(of: address) }

    private func checkVersion(_ handle: OpaquePointer) throws(PostgreSQLError) {
        let version = library.call.pointee.PQserverVersion(handle)
        guard version >= Library.oldestVersion * 10_000 else {
            throw PostgreSQLError(
                .unsupported,
                "the server runs PostgreSQL \(Library.text(of: version)); a store needs \(Library.oldestVersion) or later",
                state: .lost
            )
        }
    }

    private func parameters(
        _ host: ServerAddress.Host,
        _ place: String?,
        _ target: ServerAddress.Target
    ) -> [(String, String)] {
        var parameters = [
            ("application_name", options.applicationName), ("client_encoding", "UTF8"), ("dbname", address.database),
            ("gssencmode", "disable"), ("keepalives", "1"), ("keepalives_count", "3"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("port", "\(host.port)"), ("target_session_attrs", target.rawValue),
            ("tcp_user_timeout", "\(options.patience.wholeMilliseconds)"),
        ]
        if !host.name.isEmpty { parameters.append(("host", host.name)) }
        if let place { parameters.append(("hostaddr", place)) }
        if address.pooler == .none { parameters.append(("options", SessionSettings(address, options).startup)) }
        var settings = address.settings
        // libpq would print a warning, whether the server asks for a password or not. A path below a file is none.
        let passwords = passwordFile
        if let path = passwords.path, passwords.isPassedOver { settings["passfile"] = path + "/none" }
        parameters += settings.map { ($0.key, $0.value) }
        parameters += address.secrets.map { ($0.key, $0.value.text) }
        // Where there is none, OpenSSL would ask for that of an encrypted key at the terminal, and wait for ever.
        if address.secrets["sslpassword"]?.text.isEmpty ?? true { parameters.append(("sslpassword", " ")) }
        return parameters
    }
}

extension ServerAddress {
    /// The kinds of server to try, one behind the other.
    var targets: [Target] {
        switch target {
        case .preferStandby: [.standby, .any]
        case .any where isForWriting: [.readWrite, .any]
        default: [target]
        }
    }

    /// Whether no server that can be written to will do.
    package var isOnlyRead: Bool { [.standby, .readOnly].contains(target) }

    /// Whether a connection may be one to a standby.
    package var mayBeStandby: Bool { ![.readWrite, .primary].contains(target) }

    /// The store's schema, and temporary tables last: left out they would come first, and behind a pooler another
    /// client of the role may have made some of the same names.
    package var searchPath: String { "\(schema),pg_temp" }
}

/// The settings of a session: options at its start, or of each transaction behind a pooler.
struct SessionSettings {
    private let values: [(name: String, value: String)]

    init(_ address: ServerAddress, _ options: Connection.Options, plansForValues: Bool = false) {
        values = [
            ("search_path", address.searchPath),
            // Rows that a policy hides would be rows that are not there; so the server says that it hides some.
            ("row_security", "off"),
            // One plan for all values: each of the store's statements uses the same index for every value.
            ("plan_cache_mode", plansForValues ? "auto" : "force_generic_plan"),
            // A server compiles plans by a guess at their rows: a tenth of a second or more, for a page of them.
            ("jit", "off"),
            ("lock_timeout", "\(options.lockPatience.wholeMilliseconds)"),
            // How long an answer may take is the program's matter.
            ("statement_timeout", "0"),
            ("idle_in_transaction_session_timeout", "15000"),
            ("synchronous_commit", "on"),
            // By a warning the server says that a commit did not wait for its standby.
            ("client_min_messages", "warning"),
            // The server's own words for an index are compared with the store's.
            ("quote_all_identifiers", "off"),
        ]
    }

    /// Of sessions that no pooler shares.
    ///
    /// A statement outside a transaction has the level of the session; behind a pooler each is in one that begins with
    /// its level. By the others the server looks whether the other machine is there: in the middle of a batch nothing
    /// else limits how long it waits for the rest, holding locks. Between a pooler and the server that is not this
    /// program's matter.
    private static let ofOwnSession = [
        ("default_transaction_isolation", #"read\ committed"#),
        ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "15000"), ("idle_session_timeout", "0"),
    ]

    var startup: String { (values + Self.ofOwnSession).map { "-c \($0)=\($1)" }.joined(separator: " ") }

    var ofTransaction: String {
        let calls = values.map { "set_config('\($0.name)', '\($0.value)', true)" } + [Self.limitOfTransaction]
        return "SELECT " + calls.joined(separator: ", ")
    }

    /// Older servers know no such limit.
    private static let limitOfTransaction = """
        CASE WHEN current_setting('server_version_num')::integer >= 170000
            THEN set_config('transaction_timeout', '0', true) END
        """
}
