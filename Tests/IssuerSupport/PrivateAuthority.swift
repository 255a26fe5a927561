import Foundation
package import LocalIdentityProvider
import TestSupport

/// A certificate authority of one test's own and a server certificate for loopback from it.
package struct PrivateAuthority: Sendable {
    private static let openssl = "/usr/bin/openssl"
    package static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private let directory: TemporaryDirectory

    /// The file of the authority's own certificate.
    package var path: String { directory.file("ca.pem") }

    package var certificate: LocalIdentityProvider.Certificate {
        .init(chain: directory.file("server.pem"), key: directory.file("key.pem"))
    }

    package init() throws {
        directory = try TemporaryDirectory()
        let names = "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\nbasicConstraints=CA:FALSE\n"
        let extensions = directory.file("extensions")
        try Data(names.utf8).write(to: URL(filePath: extensions))
        let (authorityKey, request) = (directory.file("ca.key"), directory.file("request"))
        try run(
            ["req", "-x509", "-subj", "/CN=Test CA", "-days", "2", "-keyout", authorityKey, "-out", path] + Self.newKey
        )
        try run(["req", "-subj", "/CN=localhost", "-keyout", certificate.key, "-out", request] + Self.newKey)
        try run([
            "x509", "-req", "-in", request, "-CA", path, "-CAkey", authorityKey, "-CAcreateserial", "-days", "2",
            "-extfile", extensions, "-out", certificate.chain,
        ])
    }

    private func run(_ arguments: [String]) throws { try Shell.run(Self.openssl, arguments) }
}
