import HTTPTransport
import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random edits of what a store holds in the clear, made without its key: no secret goes anywhere else, and a check
/// finds what decides anything.
enum EditBar: Bar {
    static let name = "R11"

    /// What a check need not find, as it decides nothing about a secret.
    private static let harmless = [
        "event": "a record of use", "throttle": "a wait", "refresh_attempt": "a doubt about one use",
        "sign_out": "asked by an import alone", "store.created_at": "a date", "store.written_by": "a name for errors",
        "store.reader_floor": "what older programs may do", "store.writer_floor": "what older programs may do",
        "store.key_parameters": "where a key is; another opens nothing", "data_key.created_at": "a date",
        "foreign_entry.account_hash": "without it every sign-out opens the entry",
    ]

    private struct Tally {
        var (tried, found) = (0, 0)
        var misused: [String] = []
        var unfound: [String] = []
        var harmless: [String: Int] = [:]

        mutating func add(_ other: Tally) {
            tried += other.tried
            found += other.found
            misused += other.misused
            unfound += other.unfound
            harmless.merge(other.harmless, uniquingKeysWith: +)
        }
    }

    /// The files of the planted store, to be copied for each edit.
    private struct Original: Sendable {
        private let files: [String: Data]

        init(_ path: StorePath) throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: path.directory)
            let contents = try names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: path.directory + "/" + $0))) }
            files = Dictionary(uniqueKeysWithValues: contents)
        }

        func copy(to path: StorePath) throws {
            for (name, content) in files {
                let name = path.directory + "/" + name
                try content.write(to: URL(fileURLWithPath: name))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
            }
        }
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let count = bench.count(name, full: 20_000, quick: 300)
        let planted = try PlantedStore(at: try bench.place("planted"))
        let columns = try ClearColumns(of: planted.path.database)
        let original = try Original(planted.path)
        try requireAnswers(planted, original, at: try bench.place("untouched"))
        let workers = 2
        let tallies = try AsynchronousWork.run {
            try await withThrowingTaskGroup(of: Tally.self) { group in
                for worker in 0..<workers {
                    let share = (count + worker) / workers
                    group.addTask { try await edit(share, worker, columns, planted, original, bench) }
                }
                return try await group.reduce(into: [Tally]()) { $0.append($1) }
            }
        }
        report(tallies.reduce(into: Tally()) { $0.add($1) }, columns.count, add)
    }

    /// Where nothing was edited, everything is answered: else the row would measure nothing.
    private static func requireAnswers(_ planted: PlantedStore, _ original: Original, at path: StorePath) throws {
        try original.copy(to: path)
        let verdict = try AsynchronousWork.run { try await EditJudge(planted, path).verdict() }
        guard !verdict.isFound, verdict.misuses.isEmpty, verdict.answers == planted.wantedAnswers else {
            let answers = "\(verdict.answers) answers of \(planted.wantedAnswers)"
            throw BenchFailure("the store without edits: \(answers); \(verdict.misuses.joined(separator: "; "))")
        }
    }

    private static func report(_ tally: Tally, _ columns: Int, _ add: (ReportRow) -> Void) {
        for example in (tally.misused + tally.unfound).prefix(20) { Findings.explain(example) }
        let edits = "random edits of \(columns) clear columns without the key"
        let misused = "\(edits): secrets sent or printed for another purpose"
        add(ReportRow(name, misused, failures: tally.misused.count, of: tally.tried))
        let unfound = "the same: \(tally.found) found by a check; not found, and not harmless"
        add(ReportRow(name, unfound, failures: tally.unfound.count, of: tally.tried))
        let kinds = tally.harmless.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0) \($1)" }
        let rest = tally.harmless.values.reduce(0, +)
        add(ReportRow(name, "not found, and harmless: \(kinds.joined(separator: ", "))", failures: 0, of: rest))
    }

    private static func edit(
        _ count: Int,
        _ worker: Int,
        _ columns: ClearColumns,
        _ planted: PlantedStore,
        _ original: Original,
        _ bench: Bench
    ) async throws -> Tally {
        var (tally, random) = (Tally(), RandomText(seed: UInt64(11 + worker)))
        while tally.tried < count {
            let edit = try columns.edit(&random)
            let path = try bench.place("edit-\(worker)-\(tally.tried % 8)")
            try original.copy(to: path)
            guard try edit.apply(to: path.database) else { continue }
            let verdict = try await EditJudge(planted, path).verdict()
            tally.tried += 1
            let text = "\(edit.kind) \(edit.table).\(edit.column)"
            if let misuse = verdict.misuses.first { tally.misused.append("\(text): \(misuse)") }
            if verdict.isFound {
                tally.found += 1
            } else if edit.kind == .deleted {
                tally.harmless["a row deleted or put back", default: 0] += 1
            } else if let why = harmless[edit.table] {
                tally.harmless["\(edit.table) (\(why))", default: 0] += 1
            } else if let why = harmless["\(edit.table).\(edit.column)"] {
                tally.harmless["\(edit.table).\(edit.column) (\(why))", default: 0] += 1
            } else {
                tally.unfound.append("\(text): a check finds nothing")
            }
        }
        return tally
    }
}
