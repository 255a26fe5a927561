/// Unguessable text from the kernel's random numbers.
enum RandomToken {
    /// 256 random bits in base64url behind `prefix`, which only helps a person reading a log of their own client.
    static func make(prefix: String = "") -> String { prefix + bytes(32).base64URL }

    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    /// Eight uniform decimal digits, leading zeros kept.
    static func digits() -> String { (0..<8).map { _ in "\(Int.random(in: 0...9))" }.joined() }

    /// A code that a person can read aloud (RFC 8628 section 6.1).
    static func userCode() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let code = (0..<8).map { _ in letters[.random(in: letters.indices)] }
        return String(code[..<4]) + "-" + String(code[4...])
    }
}
