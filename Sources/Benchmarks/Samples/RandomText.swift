/// Reproducible random numbers (SplitMix64) and texts.
struct RandomText: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

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
