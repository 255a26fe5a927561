/// The list of revoked certificates that an address names (`sslcrl`).
///
/// libpq goes on without a list that it cannot load, as if nothing were revoked.
struct RevocationList {
    private let path: String

    /// nil where none is named, or no certificate will be looked at.
    init?(of address: ServerAddress, for host: ServerAddress.Host) {
        guard let path = address.settings["sslcrl"], !path.isEmpty, !host.isSocket,
            address.settings["sslmode"] != "disable"
        else { return nil }
        self.path = path
    }

    func requireUsable() throws(PostgreSQLError) {
        guard let text = ProcessEnvironment.contents(ofFile: path), Self.isWhole(text) else {
            throw PostgreSQLError(
                .setting,
                "sslcrl names \(path), which cannot be read as a list of revoked certificates",
                state: .lost
            )
        }
    }

    /// Whether there are lists (RFC 7468 §6), and each is as long as it says.
    private static func isWhole(_ text: String) -> Bool {
        let blocks = text.split(separator: "-----BEGIN X509 CRL-----", omittingEmptySubsequences: false).dropFirst()
        return !blocks.isEmpty
            && blocks.allSatisfy { block in
                let parts = block.split(separator: "-----END X509 CRL-----", omittingEmptySubsequences: false)
                return parts.count == 2 && decoded(parts[0]).map(isWholeSequence) ?? false
            }
    }

    /// Base64, whose lines may be of any length; nil if it is none.
    private static func decoded(_ text: Substring) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
        for letter in text.filter({ !$0.isWhitespace && $0 != "=" }).utf8 {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    /// Whether `bytes` are one sequence in DER (X.690 §8.1.3).
    private static func isWholeSequence(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2, bytes[0] == 0x30 else { return false }
        guard bytes[1] >= 0x80 else { return bytes.count == 2 + Int(bytes[1]) }
        let lengthSize = Int(bytes[1] & 0x7F)
        guard (1...4).contains(lengthSize), bytes.count > 2 + lengthSize else { return false }
        let length = bytes[2..<2 + lengthSize].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count == 2 + lengthSize + length
    }
}
