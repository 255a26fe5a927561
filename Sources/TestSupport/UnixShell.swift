import Foundation

/// A shell of the system, for what it makes of a text.
public struct UnixShell: Sendable, CustomStringConvertible {
    public let name: String

    public var description: String { name }
    public var path: String { "/usr/bin/" + name }
    public var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    public static let dash = UnixShell(name: "dash")
    public static let bash = UnixShell(name: "bash")
    public static let zsh = UnixShell(name: "zsh")

    /// Runs a script and returns the bytes it printed, apart where it printed a zero.
    public func run(_ script: String) throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let file = directory.file("script")
        try Data(script.utf8).write(to: URL(filePath: file))
        let output = directory.file("output")
        // An answer of many bytes would fill a pipe that nothing empties while the errors are read.
        try Shell.run("/bin/sh", "-c", "exec \"$0\" \"$1\" > \"$2\"", path, file, output)
        let bytes = Array(try Data(contentsOf: URL(filePath: output)))
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
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
