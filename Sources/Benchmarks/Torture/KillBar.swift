import OAuth
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A writer is killed at random moments; everything it was told is stored has to be there.
enum KillBar: Bar {
    static let name = "R1"
    static let accounts = 40

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let kills = bench.count(name, full: 1_000, quick: 25)
        let path = try bench.place("kill")
        _ = try TokenStore.open(at: path)
        var known: [Int: UInt64] = [:]
        var (damaged, lost, commits) = (0, 0, 0)
        for round in 1...kills {
            for commit in try returnedCommits(at: path, round: round) {
                known[commit.account] = max(known[commit.account] ?? 0, commit.generation)
                commits += 1
            }
            do {
                let store = try TokenStore.open(at: path)
                damaged += try store.check().isEmpty ? 0 : 1
                lost += try known.count { try generation(of: $0.key, in: store) < $0.value }
            } catch {
                damaged += 1
            }
        }
        var row = ReportRow(name, "kill -9 of a writer: damaged stores", failures: damaged, of: kills)
        let times = bench.scaled(60, quick: 5)
        let damagedCaches = try bench.msal?.damagedCaches(bench, kills: times)
        row.peers = [PeerFigure(bench.msal, "10 accounts", failures: damagedCaches, of: times)]
        add(row)
        add(ReportRow(name, "kill -9 of a writer: lost commits that had returned", failures: lost, of: commits))
    }

    /// Lets a writer run, kills it, and returns the commits it was told of.
    private static func returnedCommits(at path: StorePath, round: Int) throws -> [(account: Int, generation: UInt64)] {
        let pipe = try Pipe()
        let writer = try ChildProcess.this("write", path.database, "\(round)").start(output: pipe.writing)
        pipe.closeWriting()
        var reported: [UInt8] = []
        // One in eight dies before its first commit, while it opens the store.
        if round % 8 != 0 { reported = pipe.next(WriteChild.messageCount) }
        usleep(UInt32.random(in: 0..<25_000))
        writer.kill()
        reported += pipe.rest()
        _ = try writer.wait()
        return reported.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - WriteChild.messageCount + 1, by: WriteChild.messageCount).map {
                let account = bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
                return (Int(account), bytes.loadUnaligned(fromByteOffset: $0 + 8, as: UInt64.self))
            }
        }
    }

    /// The generation of the tokens that an account has; 0 if it has none.
    private static func generation(of account: Int, in store: TokenStore) throws -> UInt64 {
        guard case .usable(let token, _) = try store.cachedToken(for: SampleAccount(account).query()) else { return 0 }
        return UInt64(token.secret.reveal().split(separator: ".")[2]) ?? 0
    }
}
