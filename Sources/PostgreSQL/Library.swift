package import CPostgreSQL

/// libpq, loaded at first use, so that neither a build nor a program that opens no server needs it.
///
/// `@unchecked Sendable`: it points to a table of functions that is filled before the first value exists and neither
/// changed nor freed afterwards; every function may be called by any thread.
package struct Library: @unchecked Sendable {
    let call: UnsafePointer<CPostgreSQLFunctions>

    /// The oldest version of libpq and of a server that the binding works with: the first with pipelines.
    package static let oldestVersion = 14

    #if canImport(Darwin)
    private static let names = ["libpq.so.5", "libpq.5.dylib"]
    #else
    private static let names = ["libpq.so.5"]
    #endif

    private static let installed = Result { () throws(PostgreSQLError) in try Library(names: names) }

    /// The library of this machine.
    package static func load() throws(PostgreSQLError) -> Library { try installed.get() }

    /// The first library that is there, by its file names.
    package init(names: [String]) throws(PostgreSQLError) {
        let functions = UnsafeMutablePointer<CPostgreSQLFunctions>.allocate(capacity: 1)
        for name in names {
            switch CPostgreSQLLoad(name, functions) {
            case CPostgreSQLLoaded:
                // Kept for good, as the library is.
                self = try Library(functions: functions)
                return
            case CPostgreSQLIncomplete: throw Self.outdated("\(name) lacks functions that the store needs")
            default: continue
            }
        }
        throw PostgreSQLError(
            .unsupported,
            "\(names[0]) is not installed, which a store on a PostgreSQL server needs; install libpq5 (PostgreSQL 14 or "
                + "later)"
        )
    }

    /// A library whose functions are at `functions`, which stay there.
    package init(functions: UnsafePointer<CPostgreSQLFunctions>) throws(PostgreSQLError) {
        let version = functions.pointee.PQlibVersion()
        guard version >= Self.oldestVersion * 10_000 else {
            throw Self.outdated("libpq has version \(Self.text(of: version))")
        }
        call = functions
    }

    /// The version of the library as `PQlibVersion` gives it, for example 150018.
    package var version: CInt { call.pointee.PQlibVersion() }

    /// A version number as people write it.
    package static func text(of version: CInt) -> String {
        version >= 100_000
            ? "\(version / 10_000).\(version % 10_000)" : "\(version / 10_000).\(version / 100 % 100)"
    }

    private static func outdated(_ problem: String) -> PostgreSQLError {
        PostgreSQLError(.unsupported, "\(problem); install libpq5 of PostgreSQL \(oldestVersion) or later")
    }
}

extension Library {
    func text(_ start: UnsafePointer<CChar>?) -> String? { start.map { String(cString: $0) } }

    /// A part of an error or a notice, by the letter of PostgreSQL's protocol.
    func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String? {
        text(call.pointee.PQresultErrorField(result, CInt(letter.value)))
    }

    /// What a table outside the schema has against the deletion of a row; nil where a table in it broke its constraint.
    func reference(_ result: OpaquePointer, outside schema: String) -> String? {
        guard let place = field("s", of: result), place != schema, let table = field("t", of: result)
        else { return nil }
        return "the table \(place).\(table) refers to it by the constraint \(field("n", of: result) ?? "")"
    }
}
