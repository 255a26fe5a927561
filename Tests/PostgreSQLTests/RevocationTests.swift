import Foundation
import TestSupport
import TestTraits
import Testing

@testable import PostgreSQL

/// `sslcrl`: libpq goes on without a list that it cannot load, and a connection must not.
@Suite(.onWaitingThreads, .ifServerIsInstalled, .enabled(if: PrivateAuthority.isAvailable, "openssl is installed"))
struct RevocationTests {
    /// Lists of an authority: one of nothing, and one with its server's certificate.
    private struct Lists {
        private let directory: TemporaryDirectory
        var none: String { directory.file("none.crl") }
        var revoked: String { directory.file("revoked.crl") }

        init(of authority: PrivateAuthority) throws {
            directory = try TemporaryDirectory()
            let script = """
                set -e; cd "$0"; : > index; echo 01 > number
                printf '%s\\n' '[ca]' 'default_ca = x' '[x]' 'database = index' 'crlnumber = number' 'default_md = sha256' \
                    'default_crl_days = 2' > settings
                ca() { openssl ca -config settings -keyfile "${authority%.pem}.key" -cert "$authority" "$@"; }
                authority=$1; ca -gencrl -out none.crl; ca -revoke "$2"; ca -gencrl -out revoked.crl
                """
            try Shell.run("/bin/bash", "-c", script, directory.path, authority.path, authority.chain)
        }

        /// A file with other content.
        func file(_ content: String) throws -> String { try directory.write(content, to: UUID().uuidString) }
    }

    private let authority: PrivateAuthority
    private let lists: Lists

    init() throws {
        authority = try PrivateAuthority()
        lists = try Lists(of: authority)
    }

    private func connect(to server: TestServer, _ list: String) throws -> Connection {
        let query = "&sslmode=verify-full&sslrootcert=\(authority.path)&sslcrl=\(list)"
        return try Connection(to: server.remoteAddress("127.0.0.1", query))
    }

    @Test func `a certificate that the list names is refused, and another is not`() throws {
        let server = try TestServer.encrypted(by: authority)
        defer { server.stop() }
        #expect(try connect(to: server, lists.none).isEncrypted)
        let error = #expect(throws: PostgreSQLError.self) { _ = try connect(to: server, lists.revoked) }
        #expect(error?.code == .certificate)
        #expect(error?.message.contains("was revoked") == true, "\(error?.message ?? "")")
    }

    @Test func `a list that cannot be read is named, and no certificate passes`() throws {
        let server = try TestServer.encrypted(by: authority)
        defer { server.stop() }
        let whole = try String(contentsOfFile: lists.revoked, encoding: .utf8)
        let lines = whole.split(separator: "\n")
        let certificate = try String(contentsOfFile: authority.path, encoding: .utf8)
        let files = [
            "/absent/list.crl", "/tmp", try lists.file(""), authority.key,
            // A list of which the end, or something in the middle, has not arrived.
            try lists.file(lines.dropLast().joined(separator: "\n")),
            try lists.file((lines.prefix(2) + lines.dropFirst(3)).joined(separator: "\n")),
            try lists.file(whole.replacing("M", with: "!")), try lists.file(" " + whole),
            // OpenSSL drops a file of which any part is damaged.
            try lists.file(whole + certificate.dropLast(40)),
        ]
        for file in files {
            let error = #expect(throws: PostgreSQLError.self) { _ = try connect(to: server, file) }
            #expect(error?.code == .setting)
            #expect(error?.message == "\(file) cannot be read as a list of revoked certificates", "\(file)")
        }
    }

    @Test func `the list of the environment counts like that of the address, and none does without TLS`() throws {
        let server = try TestServer()
        defer { server.stop() }
        let text = "postgresql://app:planted-password@127.0.0.1:\(server.port)/tests"
        func connect(_ query: String) throws -> Connection {
            let address = try ServerAddress(text + query, origin: .environment) { name in
                name == "PGSSLCRL" ? "/absent/list.crl" : nil
            }
            return try Connection(to: address)
        }
        let error = #expect(throws: PostgreSQLError.self) { _ = try connect("") }
        #expect(error?.code == .setting)
        #expect(try connect("?sslmode=disable").integer("SELECT 1") == 1)
    }
}
