import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where measurements happen and how long they may take.
struct Bench {
    let directory: ScratchDirectory
    let isQuick: Bool
    var rounds: Int
    var tool = ""
    var msal: MSALPython?
    var oidcAgent: OIDCAgent?
    var accounts = 0
    var counts: [String: Int] = [:]
    var seed: UInt64 = 0

    /// `full`, or less where only a sign of life is wanted.
    func scaled(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }

    /// How many times to try something that was counted on the command line.
    func count(_ bar: String, full: Int, quick: Int) -> Int { counts[bar] ?? scaled(full, quick: quick) }

    /// How long a program takes, once for each round.
    func seconds(_ child: ChildProcess) throws -> [Double] {
        try (0..<rounds).map { _ in
            let turns = try (0..<scaled(50, quick: 10)).map { _ in
                let ended = try child.run()
                guard ended.isSuccess else { throw BenchFailure("\(child.program) failed") }
                return ended.seconds
            }
            return Spread(turns).median
        }
    }

    /// A new directory for one bar.
    func place(_ name: String) throws -> StorePath { try directory.store(name) }
}
