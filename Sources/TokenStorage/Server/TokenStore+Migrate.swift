import Database
import OAuth
import SQL

extension TokenStore {
    /// Brings a store to the schema of this version, on a server with the role that owns its tables.
    ///
    /// A file is also migrated by opening it for writing; a store on a server by this alone. Programs of the previous
    /// version keep working meanwhile, unless a step excludes them. Killed at any moment, it goes on where it was when
    /// it runs again. A trial (`dryRun`) only says which steps there are.
    ///
    /// - Returns: the steps that were taken.
    /// - Throws: ``TokenStoreError/Code/noStore``, ``TokenStoreError/Code/newerStore``,
    ///   ``TokenStoreError/Code/access`` if the role does not own the tables.
    @discardableResult
    public static func migrate(
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        dryRun: Bool = false
    ) throws -> MigrationReport {
        try TokenStoreError.translating(at: location) {
            switch location.kind {
            case .server(let address):
                try ServerMigration(address: address, options: options, location: location).run(dryRun: dryRun)
            case .file(let path):
                try migrate(file: path, options: options, dryRun: dryRun)
            }
        }
    }

    private static func migrate(
        file path: StorePath,
        options: StoreOptions,
        dryRun: Bool
    ) throws -> MigrationReport {
        try path.requireFile()
        guard !FileStatus.isAbsent(path.database) else { throw TokenStoreError.noStore(at: StoreLocation(path)) }
        let permissions = FilePermissions(path: path, isInspection: true)
        try permissions.checkDirectory()
        try permissions.checkDatabase()
        let file = StoreFile(path: path, timeout: options.busyTimeout)
        let header = try StoreHeader(try file.openForInspection().connection, at: path)
        let steps = try options.schema.pending(header, forWriting: true)
        if !dryRun {
            try open(at: path, options: options).close()
        } else if steps.isEmpty {
            var trial = options
            trial.unlocks = false
            try inspect(at: path, options: trial)?.requireWritable()
        }
        return MigrationReport(from: header.userVersion, to: options.schema, steps: steps)
    }
}

/// What a migration did, or would do.
public struct MigrationReport: Hashable, Sendable {
    /// The version of the schema before.
    public let oldVersion: Int

    /// The version of the schema after it.
    public let newVersion: Int

    /// The steps that were taken, by the names of their files; none if the store was up to date.
    public let steps: [String]

    init(from version: Int, to schema: Schema, steps: some Sequence<Migration>) {
        oldVersion = version
        newVersion = max(version, schema.version)
        self.steps = steps.map(\.name)
    }
}

private struct ServerMigration {
    let address: ServerAddress
    let options: StoreOptions
    let location: StoreLocation

    func run(dryRun: Bool) throws -> MigrationReport {
        let (connection, schema) = (try self.connection(isTrial: dryRun), options.serverSchema)
        try connection.requireTrustedSchema(address.schema, at: location, grants: false)
        let header = try StoreHeader(onServer: connection, at: address)
        try connection.requireUnicode(isThere: true, at: location)
        let steps = try schema.pending(header, forWriting: true)
        guard !dryRun, !steps.isEmpty else {
            return MigrationReport(from: header.schemaVersion, to: schema, steps: steps)
        }
        let taken = try zip(steps.indices, steps).filter { index, step in
            try take(step, to: schema.version(ofStep: index), by: connection)
        }
        return MigrationReport(from: header.schemaVersion, to: schema, steps: taken.map(\.1))
    }

    /// Takes a step whole or not at all.
    ///
    /// - Returns: false if another took it first.
    private func take(_ step: Migration, to version: Int, by connection: Connection) throws -> Bool {
        try connection.write {
            // Who writes holds the table, or the row where rows are spread over machines.
            if try !connection.isDistributed() {
                try connection.execute("LOCK TABLE store IN EXCLUSIVE MODE")
            }
            guard try connection.integer(Self.lock) ?? 0 < version else { return false }
            try ServerRoles.takeSchema(address.schema, by: connection)
            // The step runs with the owner's rights.
            try connection.requireTrustedSchema(address.schema, at: location)
            if try connection.hasCitus() { try connection.changeTablesOneByOne() }
            let granted = try ServerRoles.granted(by: connection)
            try connection.execute(step.sql)
            try ServerRoles.revokeDefaults(on: address.schema, by: connection)
            try connection.recordStep(to: version, step)
            if try connection.isDistributed() { try connection.distributeTables() }
            // The first grants nothing, and takes what everyone may.
            for roles in [ServerRoles()] + granted { try roles.grant(on: address.schema, by: connection) }
            return true
        }
    }

    private static let lock: StaticString = "SELECT schema_version FROM store WHERE id = 1 FOR UPDATE"

    private func connection(isTrial: Bool) throws -> Connection {
        var settings = PostgreSQL.Connection.Options()
        settings.connectLimit = options.busyTimeout
        // A step may fill a column of a large table. One that waits for a lock would keep the programs waiting behind
        // it.
        settings.patience = .seconds(3_600)
        settings.lockPatience = min(.seconds(5), options.busyTimeout)
        settings.applicationName = options.program
        // A standby that the address prefers can tell which steps there are, and takes none.
        let address = isTrial ? address : address.forWriting
        return Connection(.server(try PostgreSQL.Connection(to: address, options: settings)))
    }
}
