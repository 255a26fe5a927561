import CPostgreSQL
import Foundation
import PostgreSQL
import TestSupport
import Testing

/// libpq is loaded when it is first needed, and has to be what its declarations say.
struct LibraryTests {
    private static let header = ["/usr/include/postgresql/libpq-fe.h", "/opt/homebrew/include/libpq-fe.h"]
        .first { FileManager.default.fileExists(atPath: $0) }
    private static let compiler = ["/usr/bin/clang", "/usr/bin/cc"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private func failure(_ names: [String]) throws -> PostgreSQLError {
        try #require(#expect(throws: PostgreSQLError.self) { try Library(names: names) })
    }

    @Test func `a machine without libpq is told what to install`() throws {
        let error = try failure(["libpq-absent.so.5"])
        #expect(error.code == .unsupported)
        #expect(error.message.contains("install libpq5"))
    }

    @Test func `a library without pipelines is told apart from a missing one`() throws {
        #if os(Linux)
        let error = try failure(["libc.so.6"])
        #expect(error.code == .unsupported)
        #expect(error.message.contains("install libpq5 of PostgreSQL 14 or later"))
        #endif
    }

    @Test(.enabled(if: TestServer.isInstalled, "PostgreSQL and libpq5 are installed"))
    func `a library older than its functions look is refused by its version`() throws {
        let functions = UnsafeMutablePointer<CPostgreSQLFunctions>.allocate(capacity: 1)
        defer { functions.deallocate() }
        #expect(CPostgreSQLLoad("libpq.so.5", functions) == CPostgreSQLLoaded)
        functions.pointee.PQlibVersion = { 130_011 }
        let error = #expect(throws: PostgreSQLError.self) { try Library(functions: functions) }
        #expect(error?.message.contains("libpq has version 13.11") == true)
    }

    @Test(.enabled(if: TestServer.isInstalled, "PostgreSQL and libpq5 are installed"))
    func `a server older than 14 is refused by its version`() throws {
        let server = try TestServer.shared.get()
        let functions = UnsafeMutablePointer<CPostgreSQLFunctions>.allocate(capacity: 1)
        defer { functions.deallocate() }
        #expect(CPostgreSQLLoad("libpq.so.5", functions) == CPostgreSQLLoaded)
        functions.pointee.PQserverVersion = { _ in 130_011 }
        let old = try Library(functions: functions)
        let address = try server.address()
        let error = #expect(throws: PostgreSQLError.self) { _ = try Connection(to: address, library: old) }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "the server runs PostgreSQL 13.11; a store needs 14 or later")
    }

    @Test(.enabled(if: header != nil && compiler != nil, "libpq-dev and a C compiler are installed"))
    func `the declarations are those of the installed header`() throws {
        let directory = try TemporaryDirectory()
        let functions = Repository.root.appending(path: "Sources/CPostgreSQL/include/Functions.h").path
        let source = try directory.write(
            """
            #include "\(try #require(Self.header))"
            #include "\(functions)"
            #define SAME(result, name, arguments) \\
                _Static_assert(__builtin_types_compatible_p(__typeof__(name), result arguments), #name);
            CPOSTGRESQL_FUNCTIONS(SAME)
            #define EQUAL(name, value) _Static_assert(name == value, #name);
            CPOSTGRESQL_CONSTANTS(EQUAL)
            typedef struct { char *relname; int be_pid; char *extra; void *next; } Notification;
            _Static_assert(sizeof(PGnotify) >= sizeof(Notification), "PGnotify");
            _Static_assert(__builtin_offsetof(PGnotify, extra) == __builtin_offsetof(Notification, extra), "extra");
            _Static_assert(sizeof(ExecStatusType) == sizeof(unsigned int), "enumerations");
            """,
            to: "compare.c"
        )
        try Shell.run(try #require(Self.compiler), "-fsyntax-only", "-std=c11", source)
    }
}
