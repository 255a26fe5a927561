import OAuth
import SQLite
import Sealing

extension TokenStore {
    /// Looks at everything: the pages of the file, the schema, references between rows, and every sealed value.
    ///
    /// Nothing is written.
    ///
    /// - Returns: what is wrong; empty if the store is sound.
    public func check(progress: ((Progress) -> Void)? = nil) throws -> [StoreProblem] {
        try read { session in
            try session.connection.read { try session.problems(progress) + session.answerProblems() }
        }
    }
}

extension StoreSession {
    /// What is wrong; empty if the store is sound.
    func problems(_ progress: ((Progress) -> Void)?) throws -> [StoreProblem] {
        try pageProblems() + schemaProblems() + valueProblems(progress) + derivedProblems()
    }

    fileprivate func pageProblems() throws -> [StoreProblem] {
        var problems = try connection.integrityProblems(quick: false).map { StoreProblem(place: "file", problem: $0) }
        try connection.forEach("PRAGMA foreign_key_check") { row in
            problems.append(
                StoreProblem(
                    place: "\(row.text(0)) row \(row.integer(1))",
                    problem: "its row in \(row.text(2)) is missing"
                )
            )
        }
        return problems
    }

    /// Compares the schema with that of a new store of the same version.
    fileprivate func schemaProblems() throws -> [StoreProblem] {
        guard header.userVersion == Schema.current.version else { return [] }
        let (wanted, found) = (try Self.currentObjects.get(), try connection.schemaObjects())
        let missing = wanted.filter { found[$0.key] != $0.value }
            .map { StoreProblem(place: "schema", problem: "\($0.key) is missing or altered") }
        let unknown = found.filter { wanted[$0.key] == nil }
            .map { StoreProblem(place: "schema", problem: "\($0.key) does not belong there") }
        return try (missing + unknown).sorted { $0.problem < $1.problem } + floorProblems()
    }

    /// What a new store has.
    private static let currentObjects = Result {
        let model = try Connection(path: "", mode: .memory, busyTimeout: .zero)
        for migration in Schema.current.migrations { try model.execute(migration.sql) }
        return try model.schemaObjects()
    }

    /// An older program goes by the floors.
    private func floorProblems() throws -> [StoreProblem] {
        let header = try StoreHeader(connection, at: path)
        let (floors, found) = (Schema.current.floors, (header.readerFloor, header.writerFloor))
        guard found != (floors.reader, floors.writer) else { return [] }
        return [StoreProblem(place: "store", problem: "it says that other versions may use it than its schema allows")]
    }

    /// Files of answers that will not be taken in; the others are no problem.
    fileprivate func answerProblems() throws -> [StoreProblem] {
        try PendingFile.all(of: path).compactMap { file in
            do {
                _ = try answer(in: file)
                return nil
            } catch let error as UnreadableAnswer {
                return StoreProblem(place: "file \(file.name)", problem: error.problem)
            }
        }
    }

    fileprivate func valueProblems(_ progress: ((Progress) -> Void)?) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        var done = 0
        for table in SealedTable.all {
            try connection.prepare(table.selection(after: "?1")).forEach([.integer(Int64.min)]) { row in
                for index in table.sealed.indices {
                    guard let problem = valueProblem(row, table, index) else { continue }
                    let place = "\(table.name) row \(row.integer(0)), column \(table.sealed[index])"
                    problems.append(StoreProblem(place: place, problem: problem))
                }
                done += 1
                if done.isMultiple(of: 1024) { progress?(Progress(done: done, total: nil, unit: "rows")) }
                return true
            }
        }
        return problems
    }

    private func valueProblem(_ row: Row, _ table: SealedTable, _ index: Int) -> String? {
        do {
            _ = try openIfPresent(row, of: table, index)
            return nil
        } catch SealingError.damagedValue {
            return "the value is damaged or was moved here, or a column of its row was altered"
        } catch {
            return "\(error)"
        }
    }
}

extension Connection {
    /// The statements that made the tables and indexes, by name, without regard to white space.
    fileprivate func schemaObjects() throws -> [String: String] {
        let objects = try all(
            "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        ) { row in (row.text(0), row.text(1).split(whereSeparator: \.isWhitespace).joined(separator: " ")) }
        return Dictionary(objects) { $1 }
    }
}
