import TestSupport

/// Texts that are the same in every run.
struct RandomText: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// Text over the base64url alphabet.
    mutating func token(count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { buffer in
            var bits: UInt64 = 0
            for index in 0..<count {
                if index % 10 == 0 { bits = next() }
                buffer[index] = Self.alphabet[Int(bits & 63)]
                bits >>= 6
            }
            return count
        }
    }

    mutating func guid() -> String {
        var text = ""
        for (index, group) in [8, 4, 4, 4, 12].enumerated() {
            if index > 0 { text += "-" }
            for _ in 0..<group { text.append(String(next() & 15, radix: 16)) }
        }
        return text
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
