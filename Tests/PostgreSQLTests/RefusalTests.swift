import Foundation
import SQL
import TestSupport
import TestTraits
import Testing

@testable import PostgreSQL

/// What a server or its certificate does not accept, and what the caller is told.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct RefusalTests {
    private let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    private func refusal(_ address: ServerAddress) throws -> PostgreSQLError {
        let error = try #require(#expect(throws: PostgreSQLError.self) { _ = try Connection(to: address) })
        #expect(error.state == .lost)
        for text in ["\(error)", error.message, String(reflecting: error)] { #expect(!text.contains("planted")) }
        return error
    }

    @Test func `a password is taken from the address, the environment or its file`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("127.0.0.1:*:*:app:planted-password\n", to: "passwords")
        let bare = "postgresql://app@127.0.0.1:\(server.port)/tests"
        let addresses = [
            try server.remoteAddress(),
            try ServerAddress(bare, origin: .argument) { $0 == "PGPASSWORD" ? "planted-password" : nil },
            try ServerAddress(bare, origin: .argument) { $0 == "PGPASSFILE" ? file : nil },
            try ServerAddress(bare + "?passfile=" + file, origin: .argument) { _ in nil },
        ]
        for address in addresses {
            #expect(try Connection(to: address).first("SELECT current_user") { $0.text(0) } == "app")
        }
    }

    @Test func `a wrong password, a missing one and an unknown user are refused`() throws {
        #expect(try refusal(server.remoteAddress(password: "planted-wrong")).code == .invalidPassword)
        let none = try ServerAddress(
            "postgresql://app@127.0.0.1:\(server.port)/tests?passfile=/absent",
            origin: .argument
        ) {
            _ in nil
        }
        #expect(try refusal(none).code == .invalidPassword)
        #expect(try refusal(server.remoteAddress(user: "nobody-there")).code == .invalidPassword)
    }

    @Test func `a password file that others may use is not read, and is named where the server asks`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("*:*:*:app:planted-password\n", to: "secrets")
        let remote = try ServerAddress(
            "postgresql://app@127.0.0.1:\(server.port)/tests?passfile=" + file,
            origin: .argument
        ) { _ in nil }
        #expect(chmod(file, 0o640) == 0)
        let error = try refusal(remote)
        #expect(error.code == .passwordFile)
        #expect(error.message.contains("others may use the password file \(file)"))
        #expect(remote.passwordFile == file)
        // Nobody asks for a password over the socket.
        #expect(try Connection(to: server.address("&passfile=" + file)).integer("SELECT 1") == 1)
        #expect(chmod(file, 0o600) == 0)
        #expect(try Connection(to: remote).integer("SELECT 1") == 1)
        let none = try server.remoteAddress("127.0.0.1", "&passfile=/dev/null", password: nil)
        #expect(try refusal(none).code == .invalidPassword)
    }

    @Test(
        .disabled(if: TestCluster.isWanted, "the servers of a cluster have TLS"),
        arguments: ["require", "verify-full"]
    )
    func `a server without TLS does not pass for one that is away`(mode: String) throws {
        let error = try refusal(server.remoteAddress("127.0.0.1", "&sslmode=" + mode))
        #expect(error.code == .noEncryption, "\(error)")
    }

    @Test func `a server that PGREQUIREAUTH rules out is refused for a setting, which does not pass`() throws {
        let said = #"""
            connection to server at "127.0.0.1", port 5432 failed: authentication method requirement "scram-sha-256" failed: \#
            server did not complete authentication
            """#
        let address = try server.address()
        let error = PostgreSQLError.refusedConnection(said, address, try #require(address.hosts.first))
        #expect(error.code == .setting)
    }

    @Test func `a short password leaves the server's words whole, and a client's key is none of its network`() throws {
        let said = """
            connection to server at "127.0.0.1", port 5432 failed: private key file "/k" has group or world access; \
            file must have permissions u=rw (0600) or less
            """
        let bare = "postgresql://app@127.0.0.1/db?sslmode=verify-full"
        let address = try ServerAddress(bare, origin: .argument) { $0 == "PGPASSWORD" ? "w" : nil }
        let error = PostgreSQLError.refusedConnection(said, address, try #require(address.hosts.first))
        #expect(error.code == .certificate)
        #expect(error.message.contains("has group or world access"))
        let planted = try ServerAddress(bare, origin: .argument) { $0 == "PGPASSWORD" ? "world access" : nil }
        let masked = PostgreSQLError.refusedConnection(said, planted, try #require(planted.hosts.first))
        #expect(masked.message.contains("has group or …;"))
    }

    @Test(
        arguments: [
            ("Connection refused", .unreachable), ("fe_sendauth: no password supplied", .invalidPassword),
            (#"server certificate for "a.example" does not match host name "db-primary.example""#, .certificate),
            ("session is read-only", .wrongKindOfServer),
        ] as [(String, PostgreSQLError.Code)]
    )
    func `the name of a host says nothing of why it was refused`(said: String, code: PostgreSQLError.Code) throws {
        let text = "postgresql://db-primary.example/tests"
        let address = try ServerAddress(text, origin: .argument) { _ in nil }
        let reported = #"connection to server at "db-primary.example" (192.0.2.1), port 5432 failed: "# + said
        let error = PostgreSQLError.refusedConnection(reported, address, try #require(address.hosts.first))
        #expect(error.code == code, "\(error.message)")
    }

    @Test func `an unknown database is named`() throws {
        let error = try refusal(server.address(database: "absent"))
        #expect(error.code == .unknownDatabase)
        #expect(error.message == "the server on this machine has no database absent")
    }

    @Test func `a server without a free connection says so`() throws {
        let first = try Connection(to: server.address(user: "few"))
        #expect(try refusal(server.address(user: "few")).code == .tooManyConnections)
        first.close()
    }

    @Test func `a host where nothing listens is passed over for the next`() throws {
        let dead = try ServerAddress("postgresql://127.0.0.1:1/tests", origin: .argument) { _ in nil }
        #expect(try refusal(dead).code == .unreachable)
        let both = try ServerAddress(
            "postgresql://owner@/tests?host=/absent,\(server.directory)&port=\(server.port)&schema=public",
            origin: .argument
        ) { _ in nil }
        #expect(try Connection(to: both).integer("SELECT 1") == 1)
    }

    @Test func `a host that accepts and says nothing is given up in time`() throws {
        let silent = try SilentHost()
        let text = "postgresql://127.0.0.1:\(silent.port)/tests?connect_timeout=1&sslmode=disable"
        let address = try ServerAddress(text, origin: .argument) { _ in nil }
        let start = ContinuousClock.now
        let error = try refusal(address)
        #expect(error.code == .notConnected)
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test func `all hosts together are given up in time, and each has its part of it`() throws {
        let silent = try SilentHost()
        let hosts = "127.0.0.1:\(silent.port),127.0.0.1:\(silent.port)"
        var options = Connection.Options()
        options.connectLimit = .seconds(1)
        func address(_ hosts: String, _ more: String = "") throws -> ServerAddress {
            let text = "postgresql://trusted@\(hosts)/tests?connect_timeout=600&sslmode=disable&schema=public" + more
            return try ServerAddress(text, origin: .argument) { _ in nil }
        }
        let start = ContinuousClock.now
        let error = #expect(throws: PostgreSQLError.self) {
            _ = try Connection(to: address(hosts, "&target_session_attrs=prefer-standby"), options: options)
        }
        #expect(error?.code == .timedOut)
        #expect(start.duration(to: .now) < .seconds(60))
        // One that hangs does not hide the next.
        options.connectLimit = .seconds(4)
        let next = try Connection(to: address("127.0.0.1:\(silent.port),127.0.0.1:\(server.port)"), options: options)
        #expect(try next.integer("SELECT 1") == 1)
    }

    @Test func `a standby is refused where a server to write to is asked for`() throws {
        let standby = try TestServer(isStandby: true)
        defer { standby.stop() }
        let error = try refusal(standby.address())
        #expect(error.code == .wrongKindOfServer)
        let reader = try standby.connect("&target_session_attrs=prefer-standby")
        #expect(try reader.first("SELECT pg_is_in_recovery()") { $0.bool(0) } == true)
        let both = try ServerAddress(
            "postgresql://owner@/tests?host=\(standby.directory),\(server.directory)&port=\(standby.port),\(server.port)",
            origin: .argument
        ) { _ in nil }
        #expect(try Connection(to: both).first("SELECT pg_is_in_recovery()") { $0.bool(0) } == false)
    }
}

/// A socket that takes connections and never answers.
private final class SilentHost {
    let port: Int
    private let number: Int32

    init() throws {
        #if canImport(Darwin)
        number = socket(AF_INET, SOCK_STREAM, 0)
        #else
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = number
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) | listen(number, 4) | getsockname(number, $0, &length)
            }
        }
        guard outcome == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(number) }
}
