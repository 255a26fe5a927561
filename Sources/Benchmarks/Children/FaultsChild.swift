import ArgumentParser
import CBaseline
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Lets each write of each change fail in turn, until the change gets through.
struct FaultsChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "faults", shouldDisplay: false)

    @Argument var directory: String

    /// One of how many writes is let fail; the others pass.
    @Argument var stride: CInt

    func run() throws {
        guard fault_install() == 1 else { throw BenchFailure("SQLite has no file system to fail") }
        let model = StorePath(directory + "/model/")
        try TokenStore.open(at: model).fill(0..<5, accessTokens: 2)
        _ = try TokenStore.open(at: model).purgeExpired()
        for change in Change.allCases {
            for kind in 0..<CInt(FAULT_KIND_COUNT) {
                for lasting in 0...1 as ClosedRange<CInt> {
                    var n: CInt = 1
                    while try fails(change, at: n, kind: kind, lasting: lasting, model: model) { n += stride }
                }
            }
        }
    }

    /// Lets the `n`-th write fail.
    ///
    /// - Returns: false if the change made fewer writes than that.
    private func fails(_ change: Change, at n: CInt, kind: CInt, lasting: CInt, model: StorePath) throws -> Bool {
        Violations.say("case \(change), write \(n), kind \(kind), lasting \(lasting)")
        let path = StorePath(directory + "/copy/tokenstore.db")
        // The first time there is none.
        try? FileManager.default.removeItem(atPath: directory + "/copy")
        if change == .create {
            try FileManager.default.createDirectory(
                atPath: directory + "/copy",
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } else {
            try FileManager.default.copyItem(atPath: model.directory, toPath: directory + "/copy")
        }
        let before = change == .create ? [] : try state(of: path)
        var store = change == .create || change == .purgeEverything ? nil : try TokenStore.open(at: path)
        fault_arm(n, kind, lasting)
        let isMade = attempt { try change.make(at: path, in: store) }
        let hasStruck = fault_has_struck() == 1
        _ = fault_disarm()
        store = nil
        examine(change, path, before: before, isMade: isMade)
        return hasStruck
    }

    private func attempt(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch is TokenStoreError {
            return false
        } catch {
            Violations.say(.untyped, "\(type(of: error)) \(error)")
            return false
        }
    }

    /// The store has to open, be sound, and be as before or as wanted.
    private func examine(_ change: Change, _ path: StorePath, before: [String], isMade: Bool) {
        do {
            let after = try state(of: path)
            for problem in try TokenStore.open(at: path).check() { Violations.say(.broken, "\(problem)") }
            let wanted = try outcome(of: change, before)
            if isMade, after != wanted { Violations.say(.broken, "a change that returned is not there: \(after)") }
            if after != before, after != wanted { Violations.say(.broken, "half a change is there: \(after)") }
        } catch {
            Violations.say(.broken, "\(error)")
        }
    }

    /// What a store of accounts 0 to 4 is after a change.
    private func outcome(of change: Change, _ before: [String]) throws -> [String] {
        switch change {
        case .create, .purgeEverything: []
        case .rekey: before
        default: try Self.outcomes.value(for: change, directory: directory)
        }
    }

    private static let outcomes = ChangeOutcomes()

    private func state(of path: StorePath) throws -> [String] { try ChangeOutcomes.state(of: path) }
}
