import Crypto
import OAuth

/// Unguessable text from the kernel's random numbers.
enum RandomToken {
    /// 256 random bits in base64url behind `prefix`, which helps a person who reads a client's log.
    static func make(prefix: String = "", bytes count: Int = 32) -> String { prefix + bytes(count).base64URL }

    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    /// Eight uniform decimal digits, leading zeros kept.
    static func digits() -> String { String((0..<8).map { _ in "0123456789".randomElement() ?? "0" }) }

    /// A code that a person can read aloud (RFC 8628 section 6.1).
    static func userCode() -> String {
        let code = (0..<8).map { _ in "BCDFGHJKLMNPQRSTVWXZ".randomElement() ?? "B" }
        return String(code[..<4]) + "-" + String(code[4...])
    }
}

extension Sequence<UInt8> {
    var base64URL: String { Base64URL.encode(self) }
}

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
