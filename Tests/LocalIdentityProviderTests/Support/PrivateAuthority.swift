import Foundation
import LocalIdentityProvider

/// A certificate authority of one test's own and a server certificate for loopback from it.
struct PrivateAuthority {
    static var isAvailable: Bool { Program("openssl") != nil }

    let folder: TemporaryFolder
    var authority: String { folder.path("ca.pem") }
    var certificate: LocalIdentityProvider.Certificate {
        .init(chain: folder.path("server.pem"), key: folder.path("key.pem"))
    }

    init() async throws {
        folder = try TemporaryFolder()
        let names = "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\nbasicConstraints=CA:FALSE\n"
        let extensions = try folder.file("extensions", names).path
        try await openssl(
            ["req", "-x509", "-subj", "/CN=Test CA", "-days", "2", "-keyout", folder.path("ca.key"), "-out", authority]
                + Self.newKey
        )
        try await openssl(
            ["req", "-subj", "/CN=localhost", "-keyout", folder.path("key.pem"), "-out", folder.path("request")]
                + Self.newKey
        )
        try await openssl([
            "x509", "-req", "-in", folder.path("request"), "-CA", authority, "-CAkey", folder.path("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", folder.path("server.pem"),
        ])
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private func openssl(_ arguments: [String]) async throws {
        guard let program = Program("openssl") else { throw Missing("openssl") }
        let result = try await program.run(arguments)
        guard result.status == 0 else { throw Missing("a certificate: \(result)") }
    }
}
