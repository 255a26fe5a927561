import Database
import OAuth
import Sealing

extension TokenStore {
    /// Makes the store on a server, with a role that may create tables; a store that is there already stays as it is.
    ///
    /// Of one that holds nothing the data key may be gone, or its key may be lost and `options.keySource` name another
    /// place: then it gets a new one.
    ///
    /// The schema that the address names must be empty, or missing and its making allowed. `options.keySource` says
    /// where the key comes from: it has to be one that every machine of the fleet can ask.
    ///
    /// Of one that `isDistributed` the rows of accounts are spread over the machines of a Citus cluster, of which the
    /// address names the coordinator.
    ///
    /// - Returns: whether it was made now.
    /// - Throws: ``TokenStoreError``; ``TokenStoreError/Code/unsupported`` if there is no Citus to spread it by.
    @discardableResult
    public static func create(
        at location: StoreLocation,
        options: StoreOptions,
        granting roles: ServerRoles = ServerRoles(),
        isDistributed: Bool = false
    ) throws -> Bool {
        guard let address = location.address else {
            guard !isDistributed else {
                throw TokenStoreError.invalidArgument(
                    "a file is on one machine",
                    .correct("name a server, or do not ask for a store on several machines")
                )
            }
            let isNew = location.path.map { FileStatus.isAbsent($0.database) } ?? true
            _ = try open(at: location, options: options)
            return isNew
        }
        return try TokenStoreError.translating(at: location) {
            try ServerCreation(address: address, options: options, roles: roles, isDistributed: isDistributed).run()
        }
    }
}

private struct ServerCreation {
    let address: ServerAddress
    let options: StoreOptions
    let roles: ServerRoles
    let isDistributed: Bool

    private var location: StoreLocation { StoreLocation(address) }
    private var schema: Schema { options.serverSchema }

    func run() throws -> Bool {
        var settings = PostgreSQL.Connection.Options()
        settings.connectLimit = options.busyTimeout
        settings.patience = options.busyTimeout
        // Another may be making the same ones.
        settings.lockPatience = options.busyTimeout
        // A standby that the address prefers takes no tables.
        let connection = Connection(.server(try PostgreSQL.Connection(to: address.forWriting, options: settings)))
        try connection.requireTrustedSchema(address.schema, at: location, grants: false)
        let isThere = try isThere(connection)
        try connection.requireUnicode(isThere: isThere, at: location)
        try roles.requireRoles(connection, on: address.schema, at: location)
        if isThere { return try leave(connection) }
        if isDistributed { try requireCitus(connection) }
        guard let source = options.keySource else {
            throw TokenStoreError.invalidArgument(
                "a store on a server has no key of its own",
                .changeKey("name where its key comes from", to: "file:/PATH")
            )
        }
        try source.requireReachable(fromAnyMachine: location)
        return try NewStore.make(source, in: "", options) { store in try makeOrLeave(store, connection) }
    }

    /// Makes the store, if no other is first; what is in the way and is no store is another program's.
    private func makeOrLeave(_ store: NewStore, _ connection: Connection) throws -> Bool {
        var isSecond = false
        while true {
            do {
                try make(store, connection)
                return true
            } catch let error as PostgreSQLError where Self.conflicts.contains(error.code) {
                if try isThere(connection) { return try leave(connection) }
                // The schema alone may have been made meanwhile.
                guard isSecond else {
                    isSecond = true
                    continue
                }
                guard error.code != .uniqueViolation else { throw error }
                throw TokenStoreError.foreignTables(in: address.schema, at: location)
            } catch let error as PostgreSQLError where error.state == .lostAfterCommit {
                throw TokenStoreError(unsettled: error, at: location)
            }
        }
    }

    /// A type has the name of a table, and a sequence the place of one.
    private static let conflicts: Set<PostgreSQLError.Code> = [.duplicateTable, .duplicateObject, .uniqueViolation]

    /// Makes everything, or nothing.
    private func make(_ store: NewStore, _ connection: Connection) throws {
        try connection.write {
            if try !connection.hasSchema(address.schema) {
                try connection.execute("CREATE SCHEMA IF NOT EXISTS \(ServerRoles.quoted(address.schema))")
            }
            try ServerRoles.takeSchema(address.schema, by: connection)
            try connection.requireTrustedSchema(address.schema, at: location)
            for migration in schema.migrations { try connection.execute(migration.sql) }
            try ServerRoles.revokeDefaults(on: address.schema, by: connection)
            try connection.insertHeader(of: store, schema, at: options.seconds)
            if isDistributed { try connection.distributeTables() }
            try roles.grant(on: address.schema, by: connection)
            try connection.requireGranted(roles, on: address.schema, at: location)
            // Another role may have added something since the first check.
            try connection.requireTrustedSchema(address.schema, at: location)
            // The server may come to commit although its answer is lost.
            store.use.begin()
        }
    }

    /// Leaves the store as it is that is there already.
    private func leave(_ connection: Connection) throws -> Bool {
        guard try !isDistributed || connection.isDistributed() else {
            throw TokenStoreError.invalidArgument(
                "the store at \(location) is there already, and is on one machine",
                .correct("make one at another place, and copy it there")
            )
        }
        try requireKey(connection)
        // Roles that are named now may use it from now on.
        guard roles != ServerRoles() else { return false }
        try connection.write {
            try ServerRoles.takeSchema(address.schema, by: connection)
            try roles.requireNoProgram(connection, at: location)
            try connection.requireTrustedSchema(address.schema, at: location)
            try roles.grant(on: address.schema, by: connection)
            try connection.requireGranted(roles, on: address.schema, at: location)
        }
        return false
    }

    /// Requires of a key source that it has the key of a store that is there already, and stays as it is.
    private func requireKey(_ connection: Connection) throws {
        guard try connection.dataKeyCount() > 0 else { return try makeKey(connection) }
        let header = try StoreHeader(onServer: connection, at: address)
        guard let given = options.keySource?.recorded, try given != KeySource(parsing: header.keySource) else { return }
        let session = StoreConnection(connection, at: location, header: header, options: options)
        session.mode = .readOnly
        do {
            _ = try session.keys()
        } catch is SealingError {
            if try takeLostKeys(connection, header) { return try makeKey(connection) }
            throw SealingError.keyElsewhere("the store is there already, and its key", header.keySource, given)
        }
    }

    /// Gives a store without a data key a new one, unless something in it was sealed under the one that is gone.
    private func makeKey(_ connection: Connection) throws {
        try options.keySource?.requireReachable(fromAnyMachine: location)
        let header = try StoreHeader(onServer: connection, at: address)
        let session = StoreConnection(connection, at: location, header: header, options: options)
        session.mode = .readWrite
        session.makesServerKeys = true
        _ = try session.keys()
    }

    /// Deletes data keys that the key source of the store does not open any more, where nothing was sealed under them.
    ///
    /// Only a file that is gone or holds another key is taken for lost; any other source may answer elsewhere.
    ///
    /// - Returns: whether they were deleted.
    private func takeLostKeys(_ connection: Connection, _ header: StoreHeader) throws -> Bool {
        var recorded = options
        recorded.keySource = nil
        let session = StoreConnection(connection, at: location, header: header, options: recorded)
        session.mode = .readOnly
        do {
            _ = try session.keys()
            return false
        } catch let error as SealingError {
            guard try KeySource(parsing: header.keySource).kind == .file, [.keyAbsent, .otherKey].contains(error.code)
            else { return false }
            return try connection.write {
                // Who writes holds both.
                try connection.execute("LOCK TABLE data_key IN EXCLUSIVE MODE")
                try connection.execute("LOCK TABLE account IN EXCLUSIVE MODE")
                guard try connection.holdsNothingSealed(), try connection.accountCount() == 0 else { return false }
                // Other machines may have the key, by which they are told the new place.
                guard try !session.isMoved() else {
                    throw TokenStoreError.unprovedMove(from: location, error.problem)
                }
                try connection.forgetMoves()
                try connection.deleteDataKeys()
                return true
            }
        }
    }

    private func requireCitus(_ connection: Connection) throws {
        guard try !connection.hasCitus() else { return }
        throw TokenStoreError.unsupported(
            "the database of \(location) has no Citus, which spreads a store over machines",
            Remedy(.install, "have an administrator run CREATE EXTENSION citus there, or make a store on one machine")
        ).at(location)
    }

    /// Whether the schema holds a store.
    private func isThere(_ connection: Connection) throws -> Bool {
        guard try connection.hasSchema(address.schema) else { return false }
        do {
            _ = try StoreHeader(onServer: connection, at: address)
            return true
        } catch let error as TokenStoreError where error.code == .noStore {
            return false
        }
    }
}

extension Connection {
    /// Requires of a database that it keeps every letter, and where no store `isThere` that it also checks them.
    ///
    /// One without an encoding keeps the bytes: a store that was made or restored there goes on.
    func requireUnicode(isThere: Bool, at location: StoreLocation) throws {
        let found = try first("SELECT current_setting('server_encoding')") { $0.text(0) }
        guard let found, found != "UTF8", !(isThere && found == "SQL_ASCII") else { return }
        throw TokenStoreError.unfitEncoding(found, at: location, isThere ? .restoreInUnicode : .unicodeDatabase)
    }
}

extension KeySource {
    /// Refuses a source that is of one machine, or hangs on a directory beside the store.
    func requireReachable(fromAnyMachine location: StoreLocation) throws {
        guard filePath(directory: "") == "/key" || kind == .secretService || kind == .keychain else { return }
        throw TokenStoreError.invalidArgument(
            "the key source \(self) is of one machine, and \(location) is used from many",
            .changeKey("name one that all of them have", to: "file:/PATH")
        )
    }
}
