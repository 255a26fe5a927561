import OAuth
import TokenStorage
import TokenStoreCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random edits of what a store holds in the clear, made without its key: no secret goes anywhere else, and a check
/// finds what decides anything.
enum EditBenchmark: Benchmark {
    static let name = "R11"

    /// What a check need not find, by table and column, and why it harms nothing.
    private static let harmless = [
        "store.created_at": "a date that 'status' shows; nothing goes by it",
        "store.written_by": "a version that 'status' shows; a program goes by it in a store of a later schema alone",
        "store.key_parameters": "what the key source does not read; what it reads leads to the right key, or to none",
        "data_key.created_at": "a date that nothing reads",
        "event.at": unproven, "event.program": unproven, "event.process_id": unproven, "event.outcome": unproven,
        "event.id": unproven, "event.kind": unproven, "event.fingerprint": unproven, "event.client_id": unproven,
        "event.account_mark": unproven,
        "event.account_id": "an entry without its account, as after a removal; its mark still says whose it is",
        "claim_index.id_token_id": "rows of one claim and value were exchanged, which leaves the same rows",
    ]

    private static let unproven =
        "of an expired purge, which is recorded without the key; it names no account and no token"

    private static let deleted = "as in an older copy of the file, which the threat model leaves out"

    private struct Tally {
        var (tried, found) = ([RowEdit.Kind: Int](), [RowEdit.Kind: Int]())
        var misused: [String] = []
        var unfound: [String] = []
        var harmless: [String: Int] = [:]

        mutating func add(_ other: Tally) {
            tried.merge(other.tried, uniquingKeysWith: +)
            found.merge(other.found, uniquingKeysWith: +)
            misused += other.misused
            unfound += other.unfound
            harmless.merge(other.harmless, uniquingKeysWith: +)
        }

        mutating func add(_ verdict: EditJudge.Verdict, of edit: RowEdit) {
            let place = "\(edit.table).\(edit.column)"
            tried[edit.kind, default: 0] += 1
            if let misuse = verdict.misuses.first { misused.append("\(place), \(edit.kind.rawValue): \(misuse)") }
            if verdict.isFound {
                found[edit.kind, default: 0] += 1
            } else if edit.kind == .deleted {
                harmless["a row of \(edit.table) deleted: \(EditBenchmark.deleted)", default: 0] += 1
            } else if let why = EditBenchmark.harmless[place] {
                harmless["\(place): \(why)", default: 0] += 1
            } else {
                unfound.append("\(place), \(edit.kind.rawValue): a check finds nothing")
            }
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
        let judge = EditJudge(planted, path, refreshing: planted.sessions)
        let verdict = try AsynchronousWork.run { try await judge.verdict() }
        guard !verdict.isFound, verdict.misuses.isEmpty, verdict.answers == planted.wantedAnswers else {
            let answers = "\(verdict.answers) answers of \(planted.wantedAnswers)"
            throw BenchFailure("the store without edits: \(answers); \(verdict.misuses.joined(separator: "; "))")
        }
    }

    private static func report(_ tally: Tally, _ columns: Int, _ add: (ReportRow) -> Void) {
        for example in tally.misused.prefix(20) + tally.unfound.prefix(20) { Violations.explain(example) }
        let tried = tally.tried.values.reduce(0, +)
        let misused = "random edits of \(columns) clear columns without the key: secrets or records misused"
        add(ReportRow(name, misused, failures: tally.misused.count, of: tried))
        for kind in RowEdit.Kind.allCases {
            let found = "\(kind.rawValue): \(tally.found[kind] ?? 0) found by a check"
            add(ReportRow(name, found, failures: 0, of: tally.tried[kind] ?? 0))
        }
        for (kind, count) in tally.harmless.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            add(ReportRow(name, "not found, harmless: \(kind)", failures: 0, of: count))
        }
        add(ReportRow(name, "not found, and not harmless", failures: tally.unfound.count, of: tried))
    }

    private static func edit(
        _ count: Int,
        _ worker: Int,
        _ columns: ClearColumns,
        _ planted: PlantedStore,
        _ original: Original,
        _ bench: Bench
    ) async throws -> Tally {
        var (tally, random) = (Tally(), RandomText(seed: bench.seed &* 1_000 &+ UInt64(worker)))
        var number = 0
        while number < count {
            let edit = try columns.edit(&random)
            let path = try bench.place("edit-\(worker)-\(number % 8)")
            try original.copy(to: path)
            guard try edit.apply(to: path.database) else { continue }
            number += 1
            // All sessions of the accounts that were edited, and two others, as a refresh costs two commits.
            let others = planted.sessions.shuffled(using: &random).prefix(2)
            let refreshed = planted.sessions.filter { edit.accounts.contains($0.row) } + others
            // A record that is given to another account or client is missing where it belongs, as if it were deleted.
            let isTakenAway = edit.kind == .deleted || ["account_id", "client_fold"].contains(edit.column)
            let isSignOutLost = edit.table == "account_state" && isTakenAway
            let judge = EditJudge(planted, path, refreshing: refreshed, isSignOutLost: isSignOutLost)
            tally.add(try await judge.verdict(), of: edit)
        }
        return tally
    }
}
