import Database
import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores of every schema version with every kind of damage: what a repair calls repaired opens and is sound.
enum RepairBenchmark: Benchmark {
    static let name = "R14"

    private struct Tally {
        var (tried, repaired, refused, unsound, touched) = (0, 0, 0, 0, 0)
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let current = OldStore.versions.upperBound
        var tally = Tally()
        for version in OldStore.versions.lowerBound...current {
            for damage in RepairDamage.all {
                for seed in 0..<bench.count(name, full: 10, quick: 1) {
                    try measure(bench, version, damage, seed, &tally)
                }
            }
        }
        let cases = "\(OldStore.versions.count + 1) schema versions, \(RepairDamage.all.count) kinds of damage"
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
        try OldStore.make(at: path, version: min(version, OldStore.versions.upperBound - 1), rows: .twelveAccounts)
        // The current version is reached the way a person reaches it.
        if version == OldStore.versions.upperBound { _ = try TokenStore.open(at: path) }
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
        Violations.explain("schema \(version), \(damage.name), seed \(seed): \(text)")
    }
}

/// A kind of damage to a store that a repair is tried on; the same seed gives the same damage.
struct RepairDamage: Sendable {
    let name: String
    private let apply: @Sendable (StorePath, inout RandomText) throws -> Void

    func callAsFunction(_ path: StorePath, seed: Int) throws {
        var random = RandomText(seed: UInt64(seed) &* 0xA24B_AED4_963E_E407 &+ 14)
        try apply(path, &random)
    }

    private static let pageSize = 4_096

    static let all = header + pages + ends + rows + beside

    /// Damage to the first page, where SQLite's header and the schema are.
    private static let header = [
        bytes("first page zeroed") { bytes, _ in fill(&bytes, 0..<pageSize) { 0 } },
        bytes("first page random") { bytes, random in fill(&bytes, 0..<pageSize) { random.byte() } },
        bytes("magic text lost") { bytes, random in fill(&bytes, 0..<16) { random.byte() } },
        bytes("page size changed") { bytes, random in fill(&bytes, 16..<18) { random.byte() } },
        bytes("free pages anywhere") { bytes, random in fill(&bytes, 32..<40) { random.byte() } },
        bytes("formats changed") { bytes, random in fill(&bytes, 44..<60) { random.byte() } },
        bytes("version of the file random") { bytes, random in fill(&bytes, 60..<64) { random.byte() } },
        bytes("application id lost") { bytes, _ in fill(&bytes, 68..<72) { 0 } },
    ]

    private static let pages = [
        bytes("second page zeroed") { bytes, _ in fill(&bytes, pageSize..<2 * pageSize) { 0 } },
        bytes("a page zeroed") { bytes, random in fill(&bytes, page(of: bytes, &random)) { 0 } },
        bytes("a page random") { bytes, random in fill(&bytes, page(of: bytes, &random)) { random.byte() } },
        bytes("four pages zeroed") { bytes, random in
            for _ in 0..<4 { fill(&bytes, page(of: bytes, &random)) { 0 } }
        },
        bytes("a page copied over another") { bytes, random in
            let source = Array(bytes[page(of: bytes, &random)])
            bytes.replaceSubrange(page(of: bytes, &random), with: source)
        },
        bytes("two pages exchanged") { bytes, random in
            let (one, other) = (page(of: bytes, &random), page(of: bytes, &random))
            let (first, second) = (Array(bytes[one]), Array(bytes[other]))
            bytes.replaceSubrange(one, with: second)
            bytes.replaceSubrange(other, with: first)
        },
        bytes("number of a page's entries changed") { bytes, random in
            let start = page(of: bytes, &random).lowerBound
            fill(&bytes, start + 3..<start + 5) { random.byte() & 7 }
        },
        bytes("one bit turned") { bytes, random in turnBits(of: &bytes, 1, &random) },
        bytes("eight bits turned") { bytes, random in turnBits(of: &bytes, 8, &random) },
        bytes("a thousand bits turned") { bytes, random in turnBits(of: &bytes, 1_000, &random) },
    ]

    private static let ends = [
        bytes("end cut off within a page") { bytes, random in
            bytes.removeLast(Int.random(in: 1..<pageSize, using: &random))
        },
        bytes("last page cut off") { bytes, _ in bytes.removeLast(pageSize) },
        bytes("last quarter cut off") { bytes, _ in bytes.removeLast(bytes.count / 4) },
        bytes("random bytes at the end") { bytes, random in bytes += (0..<10_000).map { _ in random.byte() } },
    ]

    private static let rows = [
        sql("version of the file 0", "PRAGMA user_version = 0"),
        sql("version of the header changed", "UPDATE store SET schema_version = 2"),
        sql("floors raised", "UPDATE store SET reader_floor = 99, writer_floor = 99"),
        sql("a table dropped", "DROP TABLE access_token"),
        sql("sessions dropped", "DELETE FROM refresh_token WHERE id % 3 = 0; DROP TABLE refresh_token"),
        sql("an index dropped", "DROP INDEX account_username"),
        sql("a table added", "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('x')"),
        sql("accounts deleted under their tokens", "DELETE FROM account WHERE id % 2 = 0"),
        sql("secrets overwritten", "UPDATE refresh_token SET secret = zeroblob(40) WHERE id % 2 = 0"),
        sql("secrets exchanged", "UPDATE access_token SET secret = (SELECT max(secret) FROM access_token)"),
        sql("claim index of others", "UPDATE claim_index SET value_hash = randomblob(8)"),
        sql(
            "a table's statement altered",
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'username_fold', 'user_fold') WHERE name = 'account'
            """
        ),
        sql(
            "an index's pages given to another",
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'account_policy')
            WHERE name = 'account_username'
            """
        ),
    ]

    private static let beside = [
        RepairDamage(name: "log of random bytes") { path, random in
            try write((0..<40_000).map { _ in random.byte() }, to: path.log)
        },
        RepairDamage(name: "log of a header alone") { path, _ in
            let start: [UInt8] = [0x37, 0x7F, 0x06, 0x82, 0x00, 0x2D, 0xE2, 0x18, 0x00, 0x00, 0x10, 0x00]
            try write(start + [UInt8](repeating: 0, count: 20), to: path.log)
        },
        RepairDamage(name: "index of the log random") { path, random in
            try write((0..<32_768).map { _ in random.byte() }, to: path.sharedMemory)
        },
    ]

    private static func bytes(
        _ name: String,
        _ change: @escaping @Sendable (inout [UInt8], inout RandomText) -> Void
    ) -> RepairDamage {
        RepairDamage(name: name) { path, random in
            var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path.database)))
            change(&bytes, &random)
            try write(bytes, to: path.database)
        }
    }

    private static func sql(_ name: String, _ statements: String) -> RepairDamage {
        RepairDamage(name: name) { path, _ in
            try Connection(path: path.database, mode: .readWrite, busyTimeout: .zero).execute(statements)
        }
    }

    private static func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
    }

    private static func fill(_ bytes: inout [UInt8], _ range: Range<Int>, _ byte: () -> UInt8) {
        for index in range { bytes[index] = byte() }
    }

    /// A page that is not the first.
    private static func page(of bytes: [UInt8], _ random: inout RandomText) -> Range<Int> {
        let number = Int.random(in: 1..<bytes.count / pageSize, using: &random)
        return number * pageSize..<(number + 1) * pageSize
    }

    private static func turnBits(of bytes: inout [UInt8], _ count: Int, _ random: inout RandomText) {
        for _ in 0..<count {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }
}

extension RandomText {
    fileprivate mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 8) }
}
