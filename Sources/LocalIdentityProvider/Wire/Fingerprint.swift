import Crypto

/// A secret as the state keeps it: its HMAC under a key of this run; compared in constant time.
struct Fingerprint: Hashable, Sendable {
    private static let key = SymmetricKey(size: .bits256)

    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: Self.key)) }

    var base64URL: String { bytes.base64URL }

    static func == (lhs: Fingerprint, rhs: Fingerprint) -> Bool {
        zip(lhs.bytes, rhs.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
