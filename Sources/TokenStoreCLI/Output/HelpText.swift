/// The help of a command as the parser makes it, put in another order: a command's own options first, common ones last.
struct HelpText {
    private static let common = "OPTIONS OF EVERY COMMAND"
    private static let own = "OPTIONS:"

    /// How wide help is: in fewer columns the parser leaves out what the options mean, and in none all of the text.
    static var width: Int { max(40, Terminal.width(StoreArguments.environment)) }

    private let text: String

    init(_ text: String) { self.text = text }

    /// Whether a text is help, not a version or a script.
    var isHelp: Bool { text.hasPrefix("OVERVIEW:") || text.hasPrefix("USAGE:") }

    var arranged: String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE:") }) else { return text }
        var blocks = lines[usage...].split(separator: "").map(Array.init)
        if let end = blocks.firstIndex(where: { $0[0].hasPrefix(Self.common) }) {
            if let index = blocks.firstIndex(where: { $0[0] == Self.own }) {
                let (own, shared) = Self.divided(blocks[index])
                blocks[end] += shared
                blocks.remove(at: index)
                if own.count > 1 { blocks.insert(own, at: Self.place(in: blocks)) }
            }
        }
        if blocks.count > 1 { blocks[0] = [Self.usage(blocks[0].joined(separator: " "))] }
        let body = blocks.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
        let head = lines[..<usage].map { $0 + "\n" }.joined()
        // A line may end behind the colon.
        return head + body.replacing(" 30.0)", with: " 30)")
    }

    /// A usage line that has the arguments by name, and all options as one word.
    private static func usage(_ line: String) -> String {
        // One that says itself where the options stand.
        if line.contains("[<options>]") { return line.replacing("[<options>]", with: "[options]") }
        var kept: [Substring] = []
        // What the value of an option ends with, that of one in brackets with them.
        var end: String?
        for word in line.split(separator: " ") where word != "<options>" {
            if let wanted = end {
                if word.hasSuffix(wanted) { end = nil }
            } else if word.hasPrefix("[-") {
                end = word.hasSuffix("]") ? nil : "]"
            } else if word.hasPrefix("--"), word != "--" {
                end = ">"
            } else {
                kept.append(word)
            }
        }
        return kept.joined(separator: " ") + (kept.contains("<subcommand>") ? "" : " [options]")
    }

    /// Behind the usage and the arguments.
    private static func place(in blocks: [[String]]) -> Int {
        blocks.firstIndex { $0[0] == "ARGUMENTS:" }.map { $0 + 1 } ?? 1
    }

    /// The options of the command alone, and those that every command has: the version and the help.
    private static func divided(_ block: [String]) -> (own: [String], shared: [String]) {
        let start = block.firstIndex { $0.hasPrefix("  --version") || $0.hasPrefix("  -h, --help") } ?? block.endIndex
        return (Array(block[..<start]), Array(block[start...]))
    }
}
