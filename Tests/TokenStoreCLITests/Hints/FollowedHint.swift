import Foundation
import TestSupport
import Testing

/// A command that goes wrong, what it says to do, and how a person follows that to the letter.
struct FollowedHint: Sendable, CustomTestStringConvertible {
    /// What is the case, as commands of a shell; `cache.json` is there, with one sign-in.
    let given: String

    /// What a person types.
    let typed: String

    /// The exit status of that.
    let status: Int32

    /// The advice, or the end of it.
    let advice: String

    /// What the person does then; `$HINT` is what the advice has in quotes.
    let followed: String

    /// The exit status of that.
    var end: Int32 = 0

    var testDescription: String { typed }

    init(_ given: String, _ typed: String, _ status: Int32, _ advice: String, then followed: String, end: Int32 = 0) {
        (self.given, self.typed, self.status) = (given, typed, status)
        (self.advice, self.followed, self.end) = (advice, followed, end)
    }
}

/// A shell in a directory with a store, the program in its path.
struct HintShell {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
    }

    func run(_ script: String, hint: String = "") throws -> Command.Outcome {
        let binaries = (Command.binary as NSString).deletingLastPathComponent
        let variables = [
            "PATH": "\(binaries):/usr/bin:/bin", "TOKENSTORE_PATH": scratch.store, "HINT": hint, "HOME": scratch.path,
        ]
        var command = Command(arguments: ["-c", "cd \"$HOME\"\n\(script)"], environment: variables)
        command.program = "/usr/bin/bash"
        return try command.run(in: scratch)
    }

    /// What is in quotes behind the problem.
    static func quoted(_ line: String) -> String {
        let advice = line.components(separatedBy: "; ").dropFirst().joined(separator: "; ")
        guard let start = advice.firstIndex(of: "'") else { return "" }
        let rest = advice[advice.index(after: start)...]
        // A command has quoted words in it, and ends where the line does.
        let end = rest.hasPrefix("tokenstore login") ? rest.lastIndex(of: "'") : rest.firstIndex(of: "'")
        return end.map { String(rest[..<$0]) } ?? ""
    }
}
