import Database
import Foundation
import TestSupport
import TestTraits
import Testing

/// Promise 8 where `purge --all` does not come to its end: what was deleted is in no file once another command ran.
@Suite(
    .onWaitingThreads,
    .tags(.slow),
    .ifSlowTestsAreWanted,
    .enabled(if: Tracer.isUsable, "needs strace, and the right to trace")
)
struct ErasureTests {
    /// What may stop a purge at its n-th write.
    enum Fault: String, CaseIterable {
        case kill = "signal=KILL"
        case fullDisk = "error=ENOSPC"
    }

    @Test(arguments: Fault.allCases)
    func `a purge that is stopped at any write leaves all, or nothing that the next command does not erase`(
        fault: Fault
    ) throws {
        let model = try Model()
        var (write, outcomes) = (1, Set<Int>())
        while true {
            let scratch = try model.copy()
            let purge = try Tracer.run(["purge", "--all", "--yes"], fault, at: write, in: scratch)
            // Whoever opens the store for writing next finishes what was begun.
            #expect(try scratch.run("purge", "--quiet").status == 0, "write \(write)")
            let count = try scratch.run("list", "-o", "tsv").lines.count - 1
            outcomes.insert(count)
            #expect([0, Model.people].contains(count), "write \(write)")
            if count == 0 { try model.expectErased(scratch, "write \(write)") }
            #expect(try scratch.run("check").output == "no problems\n", "write \(write)")
            if purge.status == 0 { break }
            write += 1
        }
        #expect(write > 20)
        #expect(outcomes == [0, Model.people])
    }

    /// A store with many people, and what must not be found of them.
    private struct Model {
        static let people = 40

        let scratch: ScratchDirectory
        let secrets: [Data]

        init() throws {
            scratch = try ScratchDirectory()
            let people = (0..<Self.people).map {
                CachedUser(username: "planted-\($0)@example.net", uid: "planted-uid-\($0)")
            }
            let outcome = try scratch.run("import", input: CachedUser.cache(people))
            try #require(outcome.status == 0)
            let connection = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
            var secrets = [Data("planted-".utf8)]
            for table in ["access_token", "refresh_token", "id_token"] {
                try connection.prepare("SELECT secret FROM \(table)").forEach([]) { row in
                    secrets.append(Data(row.blob(0).suffix(32)))
                    return true
                }
            }
            secrets += try connection.all("SELECT wrapped FROM data_key") { Data($0.blob(0).suffix(32)) }
            self.secrets = secrets
        }

        func copy() throws -> ScratchDirectory {
            let copy = try ScratchDirectory()
            for name in try scratch.names { try copy.overwrite(name, with: scratch.contents(name)) }
            return copy
        }

        func expectErased(_ scratch: ScratchDirectory, _ place: Comment) throws {
            let snapshot = try DirectorySnapshot(scratch.path)
            let left = secrets.filter { !snapshot.names(holding: $0).isEmpty }
            #expect(left.isEmpty, place)
        }
    }
}
