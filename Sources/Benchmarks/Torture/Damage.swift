/// Random damage to bytes; the same number gives the same damage.
struct Damage {
    private var random: RandomText

    init(_ number: Int) { random = RandomText(seed: UInt64(number) &* 0xD6E8_FEB8_6659_FD93) }

    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        switch random.next() % 8 {
        case 0, 1, 2: flipBits(of: &bytes, count: Int.random(in: 1...8, using: &random))
        case 3: flipBits(of: &bytes, count: Int.random(in: 100...2_000, using: &random))
        case 4: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        case 5: overwrite(&bytes) { $0.next() }
        case 6: overwrite(&bytes) { _ in 0 }
        default:
            let count = Int.random(in: 0...5_000, using: &random)
            bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        return bytes
    }

    private mutating func flipBits(of bytes: inout [UInt8], count: Int) {
        for _ in 0..<count {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }

    /// Overwrites a part with other bytes.
    private mutating func overwrite(_ bytes: inout [UInt8], _ byte: (inout RandomText) -> UInt64) {
        let start = Int.random(in: bytes.indices, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1...8_192, using: &random))
        for index in start..<end { bytes[index] = UInt8(truncatingIfNeeded: byte(&random)) }
    }
}
