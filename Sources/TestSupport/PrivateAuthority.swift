import Foundation

/// A certificate authority for one test, and its server certificate for loopback.
public struct PrivateAuthority: Sendable {
    private static let openssl = "/usr/bin/openssl"
    public static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    /// The arguments that make a key.
    public enum KeyType: String, CaseIterable, Sendable {
        case elliptic = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        case rsa = "-newkey rsa:2048 -nodes"

        fileprivate var arguments: [String] { rawValue.split(separator: " ").map(String.init) }
    }

    /// The names of this machine, as a certificate has them.
    public static let loopback = "IP:127.0.0.1,IP:::1,DNS:localhost"

    private let directory: TemporaryDirectory

    /// The file of the authority's own certificate.
    public var path: String { directory.file("ca.pem") }

    /// The files of the server's certificate and its key.
    public var chain: String { directory.file("server.pem") }
    public var key: String { directory.file("key.pem") }

    /// The server's certificate is for `names` and valid for `days` days from now; with 0 it has expired.
    public init(days: Int = 2, names: String = PrivateAuthority.loopback, keys: KeyType = .elliptic) throws {
        directory = try TemporaryDirectory()
        let newKey = keys.arguments
        // Without the id of the authority's key, another authority of the same name is taken for this one until its
        // signature is checked.
        let lines = "subjectAltName=\(names)\nbasicConstraints=CA:FALSE\nauthorityKeyIdentifier=none\n"
        let extensions = directory.file("extensions")
        try Data(lines.utf8).write(to: URL(filePath: extensions))
        let (authorityKey, request) = (directory.file("ca.key"), directory.file("request"))
        try run(
            ["req", "-x509", "-subj", "/CN=Test CA", "-days", "2", "-keyout", authorityKey, "-out", path] + newKey
        )
        try run(["req", "-subj", "/CN=localhost", "-keyout", key, "-out", request] + newKey)
        try run([
            "x509", "-req", "-in", request, "-CA", path, "-CAkey", authorityKey, "-CAcreateserial", "-days", "\(days)",
            "-extfile", extensions, "-out", chain,
        ])
    }

    private func run(_ arguments: [String]) throws { try Shell.run(Self.openssl, arguments) }
}
