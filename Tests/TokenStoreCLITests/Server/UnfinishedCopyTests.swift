import Foundation
import TestTraits
import Testing

@testable import TokenStorage

/// What a store says whose filling by a copy was cut off: never that an account is not there.
@Suite(.onWaitingThreads)
struct UnfinishedCopyTests {
    private static let words = "is under way or was cut off, and accounts may be missing"

    /// How far a copy came.
    enum Stage {
        case begun
        case through
        case copied
        case done
    }

    /// A store with one account, and the entry that a killed copy leaves behind.
    private func scene(_ stage: Stage) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let store = try TokenStore.open(at: StorePath(scratch.store))
        defer { store.close() }
        try store.write { session in
            let mark = try session.beginCopy(from: String(repeating: "a", count: 32))
            switch stage {
            case .begun: break
            case .through: _ = try session.advance(mark, to: 192)
            case .copied: _ = try session.advance(mark, to: .max)
            case .done: try session.endCopy(session.advance(mark, to: .max))
            }
        }
        return scratch
    }

    @Test func `an account that was not found may be missing, which is another result`() throws {
        let scratch = try scene(.through)
        for command in [
            ["token", "--account", "tome", "--scope", "s"], ["claims", "tome"], ["whoami", "tome"],
            ["list", "--account", "tome"], ["purge", "--account", "tome", "--yes"], ["logout", "tome", "--yes"],
        ] {
            let outcome = try scratch.command(command)
            #expect(outcome.status == 5, "\(command): \(outcome.error)")
            #expect(outcome.error.contains(Self.words), "\(command): \(outcome.error)")
            #expect(outcome.error.contains("'tokenstore purge --all'"), "\(command): \(outcome.error)")
            #expect(outcome.output.isEmpty)
        }
        let named = try scratch.run("whoami", environment: ["TOKENSTORE_ACCOUNT": "tome"])
        #expect(named.status == 5, "\(named.error)")
        let explanation = try scratch.run("explain", "--account", "tome", "--scope", "s")
        #expect(explanation.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(Self.words))
        #expect(try scratch.run("whoami", "mara@example.net").status == 0)
    }

    @Test func `what shows all there is warns that accounts may be missing`() throws {
        let scratch = try scene(.through)
        for command in [["list"], ["list", "--expired"], ["export", "-"], ["status"], ["check"]] {
            let outcome = try scratch.command(command)
            #expect(outcome.status == 0, "\(command): \(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(command): \(outcome.error)")
            #expect(outcome.error.contains(Self.words), "\(command): \(outcome.error)")
        }
        let backup = try scratch.run("backup", scratch.path("backup.db"))
        #expect(backup.status == 0)
        #expect(backup.error.contains(Self.words), "\(backup.error)")
        #expect(try scratch.run("status", "--json").json["isFillingFromCopy"] as? Bool == true)
    }

    @Test func `what the advice ends is ended`() throws {
        let scratch = try scene(.through)
        #expect(try scratch.run("purge", "--all", "--yes").status == 0)
        #expect(try scratch.run("whoami", "tome").status == 3)
        #expect(try scratch.run("list").error.contains("the store has no account"))
    }

    /// One that was only begun may have been refused.
    @Test(arguments: [Stage.begun, .copied, .done])
    func `of a copy that has brought no account, or all of them, nothing is said`(stage: Stage) throws {
        let scratch = try scene(stage)
        #expect(try scratch.run("whoami", "tome").status == 3)
        for command in ["list", "status", "check"] {
            #expect(try scratch.run(command).error.isEmpty, "\(command)")
        }
        #expect(try scratch.run("status", "--json").json["isFillingFromCopy"] as? Bool == false)
    }
}
