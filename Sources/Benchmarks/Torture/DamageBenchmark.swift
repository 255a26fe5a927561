import OAuth
import Sealing
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores, keys and documents with random damage: a typed error or the truth, and nothing touched.
enum DamageBenchmark: Benchmark {
    static let name = "R7"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let cases = bench.count(name, full: 100_000, quick: 800)
        var found = Violations()
        var next = 0
        while next < cases {
            let count = min(2_000, cases - next)
            let path = try bench.place("damage")
            let pipe = try Pipe()
            let child = try ChildProcess.this("damage", path.directory, "\(next)", "\(count)")
                .start(output: pipe.writing)
            pipe.closeWriting()
            found.take(String(decoding: pipe.rest(), as: UTF8.self))
            found.take(try child.wait())
            next += count
        }
        found.explain()
        for problem in Violations.Problem.allCases {
            add(
                ReportRow(
                    name,
                    "damaged database, key or document: \(problem.rawValue)",
                    failures: found.counts[problem] ?? 0,
                    of: cases
                )
            )
        }
    }
}

/// Random damage to bytes; the same number gives the same damage.
struct Damage {
    private var random: RandomText

    init(_ number: Int) { random = RandomText(seed: UInt64(number) &* 0xD6E8_FEB8_6659_FD93) }

    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        switch random.next() % 8 {
        case 0, 1, 2: flipBits(of: &bytes, count: Int.random(in: 1...8, using: &random))
        case 3: flipBits(of: &bytes, count: Int.random(in: 100...2_000, using: &random))
        case 4: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        case 5: overwrite(&bytes) { $0.next() }
        case 6: overwrite(&bytes) { _ in 0 }
        default:
            let count = Int.random(in: 0...5_000, using: &random)
            bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        return bytes
    }

    private mutating func flipBits(of bytes: inout [UInt8], count: Int) {
        for _ in 0..<count {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }

    /// Overwrites a part with other bytes.
    private mutating func overwrite(_ bytes: inout [UInt8], _ byte: (inout RandomText) -> UInt64) {
        let start = Int.random(in: bytes.indices, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1...8_192, using: &random))
        for index in start..<end { bytes[index] = UInt8(truncatingIfNeeded: byte(&random)) }
    }
}

/// A small store to be damaged, and what it was.
final class DamageSubject {
    private static let accounts = 5
    private let path: StorePath
    private let key: String
    private let database: [UInt8]
    private let keyBytes: [UInt8]
    private let document: [UInt8]

    init(_ path: StorePath) throws {
        self.path = path
        key = path.directory + "/key"
        try TokenStore.open(at: path).fill(0..<Self.accounts, accessTokens: 2)
        _ = try TokenStore.open(at: path).purgeExpired()
        database = try Self.read(path.database)
        keyBytes = try Self.read(key)
        document = MSALDocument(accounts: 100..<103, accessTokens: 2).bytes
    }

    func tryDatabase(_ damage: inout Damage) throws {
        let damaged = damage.damaged(database)
        try restore(database: damaged, key: keyBytes)
        look()
        if try Self.read(path.database) != damaged { Violations.say(.touched, "the database by inspection") }
        write()
    }

    func tryKey(_ damage: inout Damage) throws {
        let damaged = damage.damaged(keyBytes)
        // A byte may be replaced with itself.
        guard damaged != keyBytes else { return }
        try restore(database: database, key: damaged)
        if look() { Violations.say(.broken, "another key is taken for the right one") }
        write()
        if try Self.read(path.database) != database { Violations.say(.touched, "the database, without its key") }
        if try Self.read(key) != damaged { Violations.say(.touched, "the key file") }
    }

    func tryDocument(_ damage: inout Damage) throws {
        let damaged = damage.damaged(document)
        try restore(database: database, key: keyBytes)
        let store = try TokenStore.open(at: path)
        let isTaken = attempt { _ = try damaged.withUnsafeBytes { try store.importMSALCache($0) } }
        let count = try store.accounts().count
        if count < Self.accounts || !isTaken && count != Self.accounts {
            Violations.say(.broken, "\(count) accounts after a bad import")
        }
        for problem in try store.check() { Violations.say(.broken, "\(problem)") }
    }

    /// Reads everything there is to read.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    private func look() -> Bool {
        attempt {
            guard let store = try TokenStore.inspect(at: path) else {
                Violations.say(.silence, "no store")
                return
            }
            var count = 0
            try store.forEachAccount(withTokens: true) { _ in count += 1 }
            if count == 0 { Violations.say(.silence, "no accounts") }
            for number in 0..<Self.accounts { _ = try store.cachedToken(for: SampleAccount(number).query()) }
            _ = try store.accounts(matching: .claim("team", equals: .string("team-0")))
            _ = try store.status()
            _ = try store.check()
        }
    }

    private func write() {
        attempt { try TokenStore.open(at: path).save(SampleAccount(1).response, for: SampleAccount.request()) }
    }

    @discardableResult
    private func attempt(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch is TokenStoreError {
            return false
        } catch is SealingError {
            return false
        } catch {
            Violations.say(.untyped, "\(type(of: error)) \(error)")
            return false
        }
    }

    private func restore(database: [UInt8], key: [UInt8]) throws {
        for name in [path.log, path.sharedMemory] where FileManager.default.fileExists(atPath: name) {
            try FileManager.default.removeItem(atPath: name)
        }
        try Data(database).write(to: URL(fileURLWithPath: path.database))
        try Data(key).write(to: URL(fileURLWithPath: self.key))
    }

    private static func read(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
