import Foundation
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
}
