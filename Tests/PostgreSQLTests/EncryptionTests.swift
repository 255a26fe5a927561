import SQL
import TestSupport
import TestTraits
import Testing

@testable import PostgreSQL

/// TLS to a server on loopback, as it is off this machine.
@Suite(.onWaitingThreads, .ifServerIsInstalled, .enabled(if: PrivateAuthority.isAvailable, "openssl is installed"))
struct EncryptionTests {
    private struct Fixture {
        let authority: PrivateAuthority
        let server: TestServer

        init(days: Int) throws {
            authority = try PrivateAuthority(days: days)
            server = try .encrypted(by: authority)
        }
    }

    @Test func `a server that proves its name is used, and one with another name is not`() throws {
        let fixture = try Fixture(days: 2)
        defer { fixture.server.stop() }
        let query = "&sslmode=verify-full&sslrootcert=" + fixture.authority.path
        for host in ["127.0.0.1", "localhost"] {
            let connection = try Connection(to: fixture.server.remoteAddress(host, query))
            #expect(connection.isEncrypted)
            #expect(try connection.integer("SELECT 1") == 1)
        }
        let error = #expect(throws: PostgreSQLError.self) {
            _ = try Connection(to: fixture.server.remoteAddress("127.0.0.2", query))
        }
        #expect(error?.code == .certificate)
        #expect(error?.message.contains("does not match host name") == true)
        let stranger = try PrivateAuthority()
        let unknown = #expect(throws: PostgreSQLError.self) {
            _ = try Connection(
                to: fixture.server.remoteAddress("127.0.0.1", "&sslmode=verify-full&sslrootcert=" + stranger.path)
            )
        }
        #expect(unknown?.code == .certificate)
    }

    @Test func `a file of authorities that is missing is named, without advice to do without it`() throws {
        let fixture = try Fixture(days: 2)
        defer { fixture.server.stop() }
        let query = "&sslmode=verify-full&sslrootcert=/absent/root.pem"
        let error = #expect(throws: PostgreSQLError.self) {
            _ = try Connection(to: fixture.server.remoteAddress("127.0.0.1", query))
        }
        #expect(error?.code == .certificate)
        #expect(error?.message.hasSuffix("root certificate file \"/absent/root.pem\" does not exist") == true)
    }

    @Test func `an expired certificate is refused`() throws {
        let fixture = try Fixture(days: 0)
        defer { fixture.server.stop() }
        let query = "&sslmode=verify-full&sslrootcert=" + fixture.authority.path
        let error = #expect(throws: PostgreSQLError.self) {
            _ = try Connection(to: fixture.server.remoteAddress("127.0.0.1", query))
        }
        #expect(error?.code == .certificate)
        #expect(error?.message.contains("expired") == true)
        #expect(error?.description.contains("planted") == false)
    }

    @Test func `a client's certificate signs in, and none does not`() throws {
        let fixture = try Fixture(days: 2)
        defer { fixture.server.stop() }
        let mine = try ClientCertificate(name: "certified", authority: fixture.authority)
        let root = "&sslmode=verify-full&sslrootcert=" + fixture.authority.path
        let address = try fixture.server.remoteAddress(
            "127.0.0.1",
            root + "&sslcert=\(mine.certificate)&sslkey=\(mine.key)",
            user: "certified",
            password: nil
        )
        #expect(try Connection(to: address).first("SELECT current_user") { $0.text(0) } == "certified")
        let without = try fixture.server.remoteAddress("127.0.0.1", root, user: "certified", password: nil)
        #expect(throws: PostgreSQLError.self) { _ = try Connection(to: without) }
    }

    @Test func `the passphrase of a client's key comes from the address, and nobody is asked for it`() throws {
        let fixture = try Fixture(days: 2)
        defer { fixture.server.stop() }
        let mine = try ClientCertificate(name: "certified", authority: fixture.authority, passphrase: "planted")
        let query =
            "&sslmode=verify-full&sslrootcert=\(fixture.authority.path)&sslcert=\(mine.certificate)&sslkey=\(mine.key)"
        func connect(_ passphrase: String) throws -> Connection {
            try Connection(
                to: fixture.server.remoteAddress("127.0.0.1", query + passphrase, user: "certified", password: nil)
            )
        }
        #expect(try connect("&sslpassword=planted").first("SELECT current_user") { $0.text(0) } == "certified")
        for wrong in ["", "&sslpassword=", "&sslpassword=other"] {
            let error = #expect(throws: PostgreSQLError.self) { _ = try connect(wrong) }
            #expect(error?.code == .certificate)
            // OpenSSL has tried a passphrase, where it would have asked for one at the terminal.
            #expect(error?.message.contains("bad decrypt") == true, "\(error?.message ?? "")")
        }
    }
}

/// A certificate of a user, issued by the authority of a test.
private struct ClientCertificate {
    private let directory: TemporaryDirectory
    var certificate: String { directory.file("client.pem") }
    var key: String { directory.file("client.key") }

    init(name: String, authority: PrivateAuthority, passphrase: String = "") throws {
        directory = try TemporaryDirectory()
        let script = """
            set -e; umask 077; cd "$0"
            openssl req -subj "/CN=$1" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout client.key -out request
            openssl x509 -req -in request -CA "$2" -CAkey "${2%.pem}.key" -CAcreateserial -days 2 -out client.pem
            if [ -n "$3" ]; then openssl ec -in client.key -aes256 -passout "pass:$3" -out sealed.key; mv sealed.key client.key; fi
            """
        try Shell.run("/bin/sh", "-c", script, directory.path, name, authority.path, passphrase)
    }
}
