import Dispatch
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

/// Promises 2 and 8 where what puts another file in the place of the store does not come to its end.
@Suite(
    .onWaitingThreads,
    .tags(.slow),
    .ifSlowTestsAreWanted,
    .enabled(if: Tracer.isUsable, "needs strace, and the right to trace")
)
struct ReplacementTests {
    /// A store whose last commit is only in its log, and a backup from before.
    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        let ivo = Data(try CachedUser.cache([.ivo]).utf8)
        // Its first line is written after the commit, and before the log is emptied.
        _ = try Tracer.run(["import"], injecting: "write:signal=KILL:when=1", into: "write", in: scratch, input: ivo)
        #expect(try scratch.run("list", "-o", "tsv").lines.count == 3)
        return scratch
    }

    @Test(arguments: ["signal=KILL", "error=EIO"], [["restore", "--yes"], ["check", "--repair", "--yes"]])
    func `a commit that is only in the log stays, and a copy that was left goes`(
        fault: String,
        command: [String]
    ) throws {
        let scratch = try Self.filled()
        let isRepair = command[0] == "check"
        if isRepair { try scratch.damageValue() }
        let arguments = command + (isRepair ? [] : [scratch.path("b.db")])
        let outcome = try Tracer.run(arguments, injecting: "rename:\(fault):when=1", into: "rename", in: scratch)
        #expect(outcome.status != 0)
        #expect(try scratch.run("list", "-o", "tsv").lines.count == 3)
        if !isRepair { #expect(try scratch.run("check").output == "no problems\n") }
        #expect(try scratch.run("purge", "--account", "ivo@example.org", "--yes").status == 0)
        #expect(try !scratch.names.contains { $0.hasSuffix(".new") })
        // What an error leaves is what was there before; what a killed one has kept, 'status' shows.
        let kept = try scratch.names.filter { $0.contains(".replaced-") || $0.contains(".damaged-") }
        #expect(kept.isEmpty == (fault == "error=EIO"), "\(kept)")
    }

    /// Promise 4: what cannot be looked at is not missing.
    @Test(arguments: ["EIO", "EACCES"], [["tag", CachedUser.mara.username, "a=b"], ["restore", "--yes", "b.db"]])
    func `a store that cannot be looked at is not taken for none`(error: String, command: [String]) throws {
        let scratch = try Self.filled()
        let arguments = command.map { $0 == "b.db" ? scratch.path("b.db") : $0 }
        let fault = "newfstatat:error=\(error)"
        let outcome = try Tracer.run(arguments, injecting: fault, into: "newfstatat", at: scratch.store, in: scratch)
        #expect(outcome.status != 0)
        #expect(try scratch.run("list", "-o", "tsv").lines.count == 3)
        #expect(try scratch.run("check").output == "no problems\n")
    }

    /// A file that somebody puts there while a store is made.
    @Test func `a new store takes the place of no other file`() throws {
        let scratch = try ScratchDirectory()
        let input = Data(try CachedUser.cache([.ivo]).utf8)
        let fault = "renameat2:delay_enter=6000000"
        let isCommandOver = Atomic(false)
        let written = Mutex<Result<Void, any Error>?>(nil)
        let other = DispatchGroup()
        DispatchQueue(label: "other").async(group: other) {
            while !FileManager.default.fileExists(atPath: scratch.store + ".new") {
                if isCommandOver.load(ordering: .relaxed) { return }
                usleep(2_000)
            }
            usleep(300_000)
            let result = Result {
                try Data("another's".utf8).write(to: URL(filePath: scratch.store), options: .withoutOverwriting)
            }
            written.withLock { $0 = result }
        }
        let run = Result {
            try Tracer.run(["import"], injecting: fault, into: "renameat2", in: scratch, input: input)
        }
        isCommandOver.store(true, ordering: .relaxed)
        other.wait()
        let outcome = try run.get()
        let result = written.withLock { $0 }
        try #require(result, "no new store was made: \(outcome.error)").get()
        #expect(outcome.status == 5, "\(outcome.error)")
        #expect(try String(contentsOfFile: scratch.store, encoding: .utf8) == "another's")
    }

    @Test func `a log that cannot be emptied after a commit is no change that was not made`() throws {
        var told = 0
        for number in 1...12 {
            let copy = try ScratchDirectory()
            try copy.fill(.mara)
            let command = ["purge", "--account", CachedUser.mara.username, "--yes"]
            let fault = "fdatasync,ftruncate:error=EIO:when=\(number)"
            let outcome = try Tracer.run(command, injecting: fault, into: "fdatasync,ftruncate", in: copy)
            let isGone = try copy.run("list", "-o", "tsv").lines.count == 1
            if isGone { #expect(!outcome.error.contains("nothing was changed"), "\(number): \(outcome.error)") }
            if outcome.error.contains("the change is made, but") { told += 1 }
        }
        #expect(told > 0)
    }
}
