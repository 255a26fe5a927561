import Foundation
import PostgreSQL

/// A coordinator of Citus and two workers, each a server of the tests.
///
/// With `TOKENSTORE_TEST_CITUS=1` the tests' shared server is the coordinator, and their stores are spread over the
/// workers. The extension has to be installed; nothing else needs it.
package final class TestCluster: Sendable {
    package static let isWanted = ProcessInfo.processInfo.environment["TOKENSTORE_TEST_CITUS"] == "1"

    /// One cluster for all tests that do no harm to it.
    package static let shared = Result { try TestCluster() }

    package let coordinator: TestServer
    private let workers: [TestServer]

    package init(_ own: [String] = []) throws {
        let settings = [
            "shared_preload_libraries = 'citus'", "max_prepared_transactions = 400", "citus.shard_count = 4",
            "citus.node_conninfo = 'sslmode=prefer'", "citus.enable_statistics_collection = off",
        ]
        coordinator = try TestServer(settings + own, isOfCluster: true)
        workers = try (0..<2).map { _ in try TestServer(settings, isOfCluster: true) }
        for server in workers + [coordinator] { try server.connect().execute("CREATE EXTENSION citus") }
        let connection = try coordinator.connect()
        try connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', \(coordinator.port))")
        for worker in workers { try connection.execute("SELECT citus_add_node('127.0.0.1', \(worker.port))") }
    }

    /// Lets the servers of a cluster connect to each other as whoever asks.
    ///
    /// - Returns: the environment of one, whose libpq finds no certificates of the one who tests.
    static func environment(ofServerIn directory: String) throws -> [String: String] {
        let rules = URL(filePath: directory + "/data/pg_hba.conf")
        let old = try String(contentsOf: rules, encoding: .utf8)
        try Data(("host all all 127.0.0.1/32 trust\n" + old).utf8).write(to: rules)
        return ProcessInfo.processInfo.environment.merging(["HOME": directory]) { $1 }
    }

    package func stop() { for server in [coordinator] + workers { server.stop() } }

    /// Whether stores on a server are to be spread.
    package static func spreads(_ server: TestServer) -> Bool {
        guard isWanted, case .success(let cluster) = shared else { return false }
        return server === cluster.coordinator
    }
}
