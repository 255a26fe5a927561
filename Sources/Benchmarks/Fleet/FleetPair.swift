import Database
import OAuth
import TestSupport
import TokenStorage

/// A primary and the standby without which it commits nothing, with a store on them.
struct FleetPair {
    let primary: TestServer
    let standby: TestServer

    init() throws {
        primary = try TestServer(["synchronous_standby_names = '*'", "wal_keep_size = 256MB"])
        standby = try TestServer(following: primary)
    }

    func stop() {
        primary.stop()
        standby.stop()
    }

    /// Makes a store, which the standby has when this returns.
    func store(_ bench: Bench) throws -> FleetServer { try FleetServer(bench, on: primary) }

    /// The address of both, of which programs take the one that writes.
    var address: String {
        "postgresql://owner@/tests?host=\(primary.directory),\(standby.directory)&port=\(primary.port),\(standby.port)"
            + "&schema=tokenstore"
    }

    /// The same, with the primary by way of a proxy.
    func address(throughProxy port: Int) -> String {
        "postgresql://trusted@/tests?host=127.0.0.1,127.0.0.1&port=\(port),\(standby.port)&schema=tokenstore"
            + "&sslmode=disable"
    }

    /// Makes the standby a primary.
    func promote() throws {
        let connection = try standby.connect("&target_session_attrs=any")
        _ = try connection.integer("SELECT CASE WHEN pg_promote(true, 30) THEN 1 ELSE 0 END")
    }
}
