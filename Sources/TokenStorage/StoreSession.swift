package import SQLite
import Sealing

/// A connection to a store with the keys to read it; the SQL of each noun is an extension of it.
///
/// Like its connection it belongs to whoever holds it, and is not `Sendable`.
package final class StoreSession {
    package let connection: Connection
    let path: StorePath
    let options: StoreOptions
    var header: StoreHeader
    var keyRing: KeyRing?

    /// The key of the marks of accounts, once it was needed.
    var markKey: MarkKey?
    var mode = Connection.Mode.readWrite

    init(_ connection: Connection, at path: StorePath, header: StoreHeader, options: StoreOptions) {
        self.connection = connection
        self.path = path
        self.header = header
        self.options = options
    }

    /// Unix seconds.
    package var now: Int64 { options.seconds }

    /// Whether somebody may have written to a file that is read without locks.
    var isOutdated: Bool { mode == .immutable && StoreFile(path: path, timeout: .zero).isInUse }

    /// Whether the connection may stay open while nobody uses it.
    ///
    /// One that must not write to the index of the log would keep every other connection of this process from it.
    var mayWait: Bool { mode != .readOnly || options.keepsInspectionOpen }

    /// The data keys, fetched at the first need.
    func keys() throws -> KeyRing {
        if let keyRing { return keyRing }
        let key = try keySource().load(keyContext(header.keyParameters))
        let ring = try KeyRing(key, storeID: header.storeID, from: connection)
        keyRing = ring
        return ring
    }

    /// The data keys that rows may be sealed or hashed under at this moment.
    ///
    /// A value names its key, a hash does not: one under a key that a rekey has retired is found nowhere.
    func currentKeys() throws -> KeyRing {
        let ring = try keys()
        let ids = Set(try connection.all("SELECT id FROM data_key") { UInt32(truncatingIfNeeded: $0.integer(0)) })
        guard ids != ring.ids else { return ring }
        try reloadKeys()
        return try keys()
    }

    /// Reads the data keys again, after another process has replaced them, or moved them to another key source.
    func reloadKeys() throws {
        do {
            try keyRing?.reload(from: connection)
        } catch SealingError.otherKey {
            header = try StoreHeader(connection, at: path)
            keyRing = nil
            _ = try keys()
        }
    }

    /// The recorded source, or the given one if it is of the same kind: a key file may have been moved.
    func keySource() throws -> KeySource {
        let recorded = try KeySource(parsing: header.keySource)
        guard let given = options.keySource, given != recorded else { return recorded }
        guard given.kind == recorded.kind else {
            throw SealingError.keyUnavailable(
                """
                the store's key comes from '\(recorded)', not from '\(given)'; leave --key out, or move the store \
                with 'tokenstore rekey --key \(given)'
                """
            )
        }
        return given
    }

    func keyContext(_ parameters: [String: String]) -> KeySourceContext {
        var context = KeySourceContext(
            directory: path.directory,
            storeID: header.storeID,
            environment: options.environment,
            parameters: parameters,
            askPassphrase: options.askPassphrase
        )
        context.scryptCost = options.scryptCost
        return context
    }
}
