import TestSupport

/// Inputs that are like others but for a few bytes; the same seed gives the same.
struct Mutation {
    private let inputs: [[UInt8]]
    private var random: SeededGenerator

    init(of inputs: [[UInt8]], seed: UInt64) {
        self.inputs = inputs
        random = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var bytes = inputs.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...8, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where end > place: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        default:
            let other = inputs.randomElement(using: &random) ?? []
            bytes.insert(contentsOf: other.suffix(Int.random(in: 0...other.count, using: &random)), at: place)
        }
    }
}
