import Foundation

extension TestServer {
    /// A server of its own that proves itself with a certificate of `authority`.
    package static func encrypted(by authority: PrivateAuthority) throws -> TestServer {
        // A server reads its key only if it is its own.
        let folder = "/tmp/tokenstore-tls-\(UUID().uuidString.prefix(8))"
        defer { _ = try? Shell.run("/bin/rm", "-rf", folder) }
        let script = """
            mkdir -m 700 "$0"; cat "$1" > "$0/chain"; cat "$2" > "$0/key"; cat "$3" > "$0/authority"
            chmod 600 "$0/key"; if [ "$(id -u)" = 0 ]; then chown -R nobody:nogroup "$0"; fi
            """
        try Shell.run("/bin/sh", "-c", script, folder, authority.chain, authority.key, authority.path)
        return try TestServer([
            "ssl = on", "ssl_cert_file = '\(folder)/chain'", "ssl_key_file = '\(folder)/key'",
            "ssl_ca_file = '\(folder)/authority'",
        ])
    }
}
