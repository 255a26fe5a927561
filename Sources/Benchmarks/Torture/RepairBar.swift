import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores of every schema version with every kind of damage: what a repair calls repaired opens and is sound.
enum RepairBar: Bar {
    static let name = "R14"

    private struct Tally {
        var (tried, repaired, refused, unsound, touched) = (0, 0, 0, 0, 0)
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let current = OlderStore.versions.upperBound
        var tally = Tally()
        for version in OlderStore.versions.lowerBound...current {
            for damage in RepairDamage.all {
                for seed in 0..<bench.count(name, full: 10, quick: 1) {
                    try measure(bench, version, damage, seed, &tally)
                }
            }
        }
        let cases = "\(OlderStore.versions.count + 1) schema versions, \(RepairDamage.all.count) kinds of damage"
        let repaired = "\(cases): repaired, and then not sound"
        add(ReportRow(name, repaired, failures: tally.unsound, of: tally.repaired))
        add(ReportRow(name, "beyond repair: not left as it was", failures: tally.touched, of: tally.refused))
    }

    private static func measure(
        _ bench: Bench,
        _ version: Int,
        _ damage: RepairDamage,
        _ seed: Int,
        _ tally: inout Tally
    ) throws {
        let path = try bench.place("repair")
        try OlderStore.make(at: path, version: min(version, OlderStore.versions.upperBound - 1))
        // The current version is reached the way a person reaches it.
        if version == OlderStore.versions.upperBound { _ = try TokenStore.open(at: path) }
        try damage(path, seed: seed)
        let before = try Data(contentsOf: URL(fileURLWithPath: path.database))
        let ended = try bench.tool("check", "--repair", "--yes", "--store", path.database).run()
        tally.tried += 1
        if ended.code == 0 || ended.code == 6 {
            tally.repaired += 1
            for command in ["check", "list"] {
                let look = try bench.tool(command, "--store", path.database).run()
                guard look.code != 0 else { continue }
                tally.unsound += 1
                explain(version, damage, seed, "'\(command)' ends with \(end(look)) after \(end(ended))")
                break
            }
        } else {
            tally.refused += 1
            let isKept = try Data(contentsOf: URL(fileURLWithPath: path.database)) == before
            guard !isKept || ![1, 7, 10].contains(ended.code) else { return }
            tally.touched += 1
            explain(version, damage, seed, "repair ends with \(end(ended))\(isKept ? "" : ", the file is another")")
        }
    }

    private static func end(_ ended: ChildProcess.Ended) -> String {
        ended.signal.map { "signal \($0)" } ?? "exit \(ended.code ?? -1)"
    }

    private static func explain(_ version: Int, _ damage: RepairDamage, _ seed: Int, _ text: String) {
        Findings.explain("schema \(version), \(damage.name), seed \(seed): \(text)")
    }
}
