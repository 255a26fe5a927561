import Foundation
import TestTraits
import Testing

/// Advice works when it is followed to the letter.
@Suite(.onWaitingThreads)
struct HintTests {
    static let filled = "tokenstore import --quiet cache.json"

    @Test(arguments: keys) func `advice about keys works`(hint: FollowedHint) throws { try follow(hint) }

    @Test(arguments: files) func `advice about files works`(hint: FollowedHint) throws { try follow(hint) }

    @Test(arguments: words) func `advice about words works`(hint: FollowedHint) throws { try follow(hint) }

    @Test func `the option that tells two accounts apart is named, and does`() throws {
        let shell = try HintShell()
        try shell.scratch.importHarbor()
        let ambiguous = try shell.run("tokenstore claims mara@example.net")
        #expect(ambiguous.status == 3)
        let option = HintShell.quoted(ambiguous.lineOfError)
        #expect(option.hasPrefix("--policy b2c_1_"), "\(ambiguous.error)")
        #expect(try shell.run("tokenstore claims mara@example.net $HINT", hint: option).status == 0)
    }

    @Test func `a wrong passphrase can be typed three times`() throws {
        let scratch = try ScratchDirectory()
        let variables = ["TOKENSTORE_PASSPHRASE": "a b"]
        let cache = try CachedUser.cache([.mara])
        #expect(try scratch.run("import", "--key", "passphrase", environment: variables, input: cache).status == 0)
        let question = "Passphrase for the store: "
        let third = try scratch.runOnTerminal(
            "claims",
            answers: [(question, "one\n"), (question, "two\n"), (question, "a b\n")]
        )
        #expect(third.status == 0, "\(third.output)")
        #expect(third.output.components(separatedBy: "the passphrase is wrong, try again").count == 3)
        let never = try scratch.runOnTerminal("claims", answers: Array(repeating: (question, "no\n"), count: 3))
        #expect(never.status == 7)
        #expect(never.output.contains("the passphrase is wrong; "), "\(never.output)")
    }

    private func follow(_ hint: FollowedHint) throws {
        let shell = try HintShell()
        let outcome = try shell.run("\(hint.given)\n\(hint.typed)")
        #expect(outcome.status == hint.status, "\(outcome)")
        let line = outcome.lineOfError
        #expect(line.contains(hint.advice), "\(line)")
        #expect(!line.contains(".;") && !line.contains("; ;"), "\(line)")
        let parts = line.components(separatedBy: "; ").dropFirst()
        #expect(Set(parts).count == parts.count, "\(line)")
        let followed = try shell.run(hint.followed, hint: HintShell.quoted(line))
        #expect(followed.status == hint.end, "\(followed)")
    }
}

extension Command.Outcome {
    /// The line of standard error that says what to do.
    fileprivate var lineOfError: String {
        let lines = error.split(separator: "\n").map(String.init)
        return lines.first { $0.hasPrefix("tokenstore: error: ") } ?? lines.last ?? ""
    }
}
