import CPostgreSQL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The list of revoked certificates that libpq takes: the one that an address names (`sslcrl`), or the user's own.
///
/// libpq goes on without a list that it cannot load, as if nothing were revoked.
struct RevocationList {
    private let path: String
    private let rootCertificate: String?

    /// nil where there is none, or no certificate is looked at.
    init?(of address: ServerAddress, for host: ServerAddress.Host) {
        func setting(_ name: String) -> String? { address.settings[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard !host.isSocket, setting("sslmode") != "disable" else { return nil }
        rootCertificate = setting("sslrootcert")
        guard let path = setting("sslcrl") ?? Self.own(beside: rootCertificate) else { return nil }
        self.path = path
    }

    /// The list that libpq takes where none is named, if it is there: only beside a file of authorities.
    private static func own(beside rootCertificate: String?) -> String? {
        let home = ProcessEnvironment.variable("HOME") ?? ProcessEnvironment.recordedHome
        guard ProcessEnvironment.variable("PGSSLCRLDIR") == nil, let home else { return nil }
        let path = home + "/.postgresql/root.crl"
        let root = rootCertificate ?? home + "/.postgresql/root.crt"
        return root != "system" && access(root, F_OK) == 0 && access(path, F_OK) == 0 ? path : nil
    }

    /// Makes sure that `library` will look into it.
    func requireUsable(by library: Library) throws(PostgreSQLError) {
        guard CPostgreSQLLoadsRevocationList(library.call, path) == 1 else {
            throw Self.refused("\(path) cannot be read as a list of revoked certificates")
        }
        guard rootCertificate != "system" else {
            throw Self.refused("with sslrootcert=system no list of revoked certificates counts, and \(path) is one")
        }
    }

    private static func refused(_ problem: String) -> PostgreSQLError {
        PostgreSQLError(.setting, problem, state: .lost)
    }
}
