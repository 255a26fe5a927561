/// Unguessable text from the kernel's random numbers.
enum RandomToken {
    /// 256 random bits in base64url behind `prefix`, which only helps a person reading a log of their own client.
    static func make(prefix: String = "") -> String { prefix + bytes(32).base64URL }

    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Eight uniform decimal digits, leading zeros kept.
    static func digits() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<8).map { _ in Character("\(Int.random(in: 0...9, using: &generator))") })
    }

    /// A code that a person can read aloud (RFC 8628 section 6.1).
    static func userCode() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = "BCDFGHJKLMNPQRSTVWXZ".map { $0 }
        let code = (0..<8).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }
        return String(code[..<4]) + "-" + String(code[4...])
    }
}
