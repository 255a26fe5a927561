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
}
