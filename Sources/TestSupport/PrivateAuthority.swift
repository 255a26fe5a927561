import Foundation

/// A certificate authority for one test, and its server certificate for loopback.
public struct PrivateAuthority: Sendable {
    private static let openssl = "/usr/bin/openssl"
    public static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private let directory: TemporaryDirectory

    /// The file of the authority's own certificate.
    public var path: String { directory.file("ca.pem") }

    /// The files of the server's certificate and its key.
    public var chain: String { directory.file("server.pem") }
    public var key: String { directory.file("key.pem") }

    /// The server's certificate is valid for `days` days from now; with 0 it has expired.
    public init(days: Int = 2) throws {
        directory = try TemporaryDirectory()
        let names = "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\nbasicConstraints=CA:FALSE\n"
        let extensions = directory.file("extensions")
        try Data(names.utf8).write(to: URL(filePath: extensions))
        let (authorityKey, request) = (directory.file("ca.key"), directory.file("request"))
        try run(
            ["req", "-x509", "-subj", "/CN=Test CA", "-days", "2", "-keyout", authorityKey, "-out", path] + Self.newKey
        )
        try run(["req", "-subj", "/CN=localhost", "-keyout", key, "-out", request] + Self.newKey)
        try run([
            "x509", "-req", "-in", request, "-CA", path, "-CAkey", authorityKey, "-CAcreateserial", "-days", "\(days)",
            "-extfile", extensions, "-out", chain,
        ])
    }

    private func run(_ arguments: [String]) throws { try Shell.run(Self.openssl, arguments) }
}
