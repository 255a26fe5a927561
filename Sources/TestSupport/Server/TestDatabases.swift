import Foundation
import OAuth
package import PostgreSQL
import Synchronization

/// The databases on a test server that stores are made in, each with room for a few.
///
/// Whoever makes or opens a store has the server look through all tables of its database: with the stores of every
/// test in one, the last ones took ten times as long as the first.
final class TestDatabases: Sendable {
    private static let storesInEach = 16

    /// How many stores have a place.
    private let count = LockedValue(0)

    /// The database for one more store on `server`; made if the last one is full.
    func next(on server: TestServer) throws -> String {
        try count.withLock { count in
            let name = "stores\(count / Self.storesInEach)"
            let isNew = count.isMultiple(of: Self.storesInEach)
            // Also where this fails: one that was made beyond a time limit is made no second time.
            count += 1
            if isNew { try server.connect().execute("CREATE DATABASE \(name) TEMPLATE template0") }
            return name
        }
    }
}

extension TestServer {
    /// The address for a new store: a schema of its own, in a database with few others.
    package func addressForStore() throws -> ServerAddress {
        let schema = "s" + UUID().uuidString.lowercased().filter { $0 != "-" }
        // One database of a cluster is spread.
        let database = TestCluster.spreads(self) ? "tests" : try databases.next(on: self)
        return try address(database: database, schema: schema)
    }

    /// Makes a database of an encoding, for a store of its own.
    package func makeDatabase(_ name: String, encoding: String) throws {
        let settings = "ENCODING '\(encoding)' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        try connect().execute("CREATE DATABASE \(name) \(settings)")
    }

    /// Restores a dump of a store in a database of another encoding, which is made.
    ///
    /// - Returns: where that is.
    package func restoreDump(of store: ServerAddress, encoding: String) throws -> ServerAddress {
        let database = "\(encoding.lowercased())_\(UUID().uuidString.prefix(8).lowercased())"
        try makeDatabase(database, encoding: encoding)
        let script = #"""
            set -o pipefail
            place=(--host="$1" --port="$2" --username=owner)
            "$0/pg_dump" "${place[@]}" --schema="$3" "$4" \
                | "$0/psql" "${place[@]}" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$5"
            """#
        let programs = Self.programs ?? ""
        try Shell.run("/bin/bash", "-c", script, programs, directory, "\(port)", store.schema, store.database, database)
        return try address(database: database, schema: store.schema)
    }
}
