/// Random numbers that are the same in every run (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    /// What confuses those who take a text for its letters: marks that join the letter before, joiners, other
    /// directions of writing, quotes, backslashes, line breaks, and what a shell obeys.
    private static let pieces: [String] = [
        "'", "\"", "\\", "`", "$", "$(", ")", ";", "&", "|", "<", ">", "!", "#", "~", "*", "?", "[", "{", "}", " ", "=",
        "%", "a", "Z", "0", "-", "\n", "\r", "\t", "\r\n", "\u{301}", "\u{20DD}", "\u{FE0F}", "\u{200D}", "\u{200C}",
        "\u{202E}", "\u{2066}", "\u{2028}", "\u{5D0}", "\u{627}", "\u{E9}", "\u{1F469}", "\u{1F3FD}", "\u{1F1E8}",
        "\u{7F}", "\u{85}", "\u{1B}", "\u{FEFF}", "\u{AD}", "\u{E000}", "\u{10FFFF}", "'\u{301}", "\\\u{301}",
    ]

    /// A text of up to `count` such pieces, without NUL.
    public mutating func confusingText(count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in
            guard Int.random(in: 0..<4, using: &self) == 0 else { return Self.pieces.randomElement(using: &self) ?? "" }
            let scalar = Unicode.Scalar(UInt32.random(in: 1..<0x11_0000, using: &self))
            return scalar.map { String($0) } ?? "'"
        }.joined()
    }
}
