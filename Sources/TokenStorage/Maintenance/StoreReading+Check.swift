import Database
package import OAuth
import SQL
import Sealing

extension StoreReading {
    /// Looks at everything: the pages of the file, the schema, references between rows, and every sealed value.
    ///
    /// Nothing is written.
    ///
    /// - Returns: what is wrong; empty if the store is sound.
    public func check(progress: TokenStore.ProgressHandler? = nil) throws -> [StoreProblem] {
        try read { session in
            try session.readLong(of: connections) {
                try session.modeProblems() + session.problems(progress) + session.answerProblems()
            }
        }
    }
}

extension StoreConnection {
    /// What is wrong; empty if the store is sound.
    func problems(_ progress: TokenStore.ProgressHandler?) throws -> [StoreProblem] {
        guard !connection.isServer else { return try tableProblems() + rowProblems(progress) }
        // SQLite looks at all pages in one step.
        let count = Int(try connection.integer("PRAGMA page_count") ?? 0)
        try RowProgress(progress, total: count, unit: "pages").start()
        let pages = SharedTask { try $0.pageProblems() }
        guard let second else { return try pages.result(by: self) + schemaProblems() + rowProblems(progress) }
        second.help(with: pages)
        let found = try schemaProblems() + rowProblems(progress)
        return try pages.result(by: self) + found
    }

    /// Another program may have taken the database out of the mode in which a store is always.
    fileprivate func modeProblems() -> [StoreProblem] {
        // The header says so, by the versions of the file format that write and read it.
        guard !connection.isServer, let versions = connection.bytes(at: 18, count: 2), versions != [2, 2] else {
            return []
        }
        return [StoreProblem(location: "file", problem: "it is in no write-ahead-log mode, as a store always is")]
    }

    private func rowProblems(_ progress: TokenStore.ProgressHandler?) throws -> [StoreProblem] {
        let rows = RowProgress(progress, total: try rowCount(SealedTable.all + Self.withHashes), unit: "rows")
        try rows.start()
        return try keySourceProblems() + moveProblems() + sharedIdentityProblems() + valueProblems(rows)
            + derivedProblems(rows)
    }

    /// What a server's tables lack or have too much of; its pages are its own to check.
    private func tableProblems() throws -> [StoreProblem] {
        for table in SealedTable.all {
            try connection.prepare(table.selection + "LIMIT 0").forEach([]) { _ in false }
        }
        return try encodingProblems() + serverTableProblems() + floorProblems() + keyProblems()
    }

    private func encodingProblems() -> [StoreProblem] {
        guard case .server(let server) = connection.engine, !server.keepsTexts else { return [] }
        let remedy = Remedy.restoreInUnicode
        let problem = "it has the encoding \(server.encoding), and letters of people's names need UTF8"
        return [StoreProblem(location: "database", problem: "\(problem): \(remedy.advice)", remedy: remedy)]
    }

    private func keySourceProblems() -> [StoreProblem] {
        header.namesKeySource ? [] : [.unnamedKeySource]
    }

    /// A file without a data key gets one from the next sign-in; on a server programs may make none.
    private func keyProblems() throws -> [StoreProblem] {
        guard try connection.dataKeyCount() == 0 else { return [] }
        let remedy = Remedy.newDataKey
        return [StoreProblem(location: "store", problem: "it has no data key: \(remedy.advice)", remedy: remedy)]
    }

    /// The tables whose rows are looked at once more for what is computed from them; the last one twice.
    private static let withHashes: [SealedTable] = [
        .refreshToken, .idToken, .accountTag, .foreignEntry, .foreignEntry,
    ]

    fileprivate func pageProblems() throws -> [StoreProblem] {
        var problems = try connection.integrityProblems(quick: false).map {
            StoreProblem(location: "file", problem: $0)
        }
        try connection.forEach("PRAGMA foreign_key_check") { row in
            problems.append(
                StoreProblem(
                    location: "\(row.text(0)) row \(row.integer(1))",
                    problem: "its row in \(row.text(2)) is missing"
                )
            )
        }
        return problems
    }

    /// Compares the schema with that of a new store of the same version.
    func schemaProblems() throws -> [StoreProblem] {
        let (version, known) = (header.userVersion, Schema.current.version)
        guard (1...known).contains(version) else { return [] }
        let wanted = try version == known ? Self.currentObjects.get() : Schema.model(of: version).schemaObjects()
        let found = try connection.schemaObjects()
        let missing = wanted.filter { found[$0.key] != $0.value }
            .map { StoreProblem(location: "schema", problem: "\($0.key) is missing or altered") }
        let unknown = found.filter { wanted[$0.key] == nil }
            .map { StoreProblem(location: "schema", problem: "\($0.key) does not belong there") }
        return try (missing + unknown).sorted { $0.problem < $1.problem } + floorProblems()
    }

    /// What a new store has.
    private static let currentObjects = Result { try Schema.model(of: Schema.current.version).schemaObjects() }

    /// An older program goes by the floors.
    private func floorProblems() throws -> [StoreProblem] {
        let header = try StoreHeader(connection, at: location)
        let schema = connection.isServer ? Schema.server : .current
        guard header.schemaVersion == schema.version else { return [] }
        let (floors, found) = (schema.floors, (header.readerFloor, header.writerFloor))
        guard found != (floors.reader, floors.writer) else { return [] }
        let problem = "it says that other versions may use it than its schema allows"
        return [StoreProblem(location: "store", problem: problem)]
    }

    /// Files of answers that will not be taken in; the others are not problems.
    fileprivate func answerProblems() throws -> [StoreProblem] {
        try unreadableAnswers().map { file, error in
            StoreProblem(
                location: "file \(file.name)",
                problem: "\(error.problem): \(error.remedy.advice)",
                remedy: error.remedy
            )
        }
    }

    fileprivate func valueProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        for table in SealedTable.all {
            try connection.walk(table.everyRow) { row in
                for index in table.sealed.indices {
                    guard let problem = try valueProblem(row, table, index) else { continue }
                    let location = "\(table.name) row \(row.integer(0)), column \(table.sealed[index])"
                    let remedy = remedy(table)
                    let advice = remedy.map { ": \($0.advice)" } ?? ""
                    problems.append(StoreProblem(location: location, problem: problem + advice, remedy: remedy))
                }
                try rows.advance()
            }
        }
        return problems
    }

    /// What mends an altered row where no repair does, which copies a file's rows one by one.
    private func remedy(_ table: SealedTable) -> Remedy? {
        if table === SealedTable.defaultAccount { return Self.newChoice }
        guard connection.isServer else { return nil }
        return switch table.whenAltered {
        case .countsForNothing: Self.newSeals
        case .isRefused: .signInAgain
        case .isKept: nil
        }
    }

    private static let newSeals = Remedy(.rekey, "seal every value anew, which leaves such a row out")

    /// An altered choice counts for none until there is another one.
    private static let newChoice = Remedy(.chooseDefault, "choose a default account anew, or none")

    /// - Throws: what concerns all values, such as keys that are lost.
    private func valueProblem(_ row: Row, _ table: SealedTable, _ index: Int) throws(TokenStoreError) -> String? {
        do {
            _ = try openIfPresent(row, of: table, index)
            return nil
        } catch let error as SealingError where error.code == .damagedValue {
            return "the value is damaged or was moved here, or a column of its row was altered"
        } catch let error as TokenStoreError {
            throw error
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

/// Something a check found wrong.
public struct StoreProblem: Hashable, Sendable {
    /// Where, such as `access_token row 7, column secret`.
    public let location: String

    /// What is wrong, a clause without a full stop.
    public let problem: String

    /// What mends it, which ``problem`` says in words; nil where a repair of the store may.
    package let remedy: Remedy?

    package init(location: String, problem: String, remedy: Remedy? = nil) {
        self.location = location
        self.problem = problem
        self.remedy = remedy
    }

    static let unnamedKeySource = StoreProblem(
        location: "store",
        problem: "it does not say where its key comes from"
    )
}

/// What is computed from sealed values and not sealed itself: fingerprints, the claim index, identities of what is kept
/// aside. It finds rows and decides nothing.
extension StoreConnection {
    /// Where it is not what the values say; rows that do not open are separate problems.
    private func derivedProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        try fingerprintProblems(rows) + claimIndexProblems(rows) + identityProblems(rows) + accountHashProblems(rows)
            + eventAccountProblems() + tagProblems(rows)
    }

    private func tagProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        let table = SealedTable.accountTag
        return try problems(table, rows, column: "name_hash", "is not that of the tag") { row, sealer in
            let tag = try tag(row)
            return tag.nameHash(sealer) == row.blob(table["name_hash"])
                && tag.valueHash(sealer) == row.blob(table["value_hash"])
        }
    }

    private func fingerprintProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        let table = SealedTable.refreshToken
        return try problems(table, rows, column: "fingerprint", "is not that of the token") { row, sealer in
            try sealer.fingerprint(open(row, of: table)) == row.blob(table["fingerprint"])
        }
    }

    private func claimIndexProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        let table = SealedTable.idToken
        return try problems(table, rows, column: "claim_index", "does not say what the ID token says") { row, sealer in
            // A token that cannot be decoded has no claims, and no index.
            let secret = try open(row, of: table)
            let claims = (try? IDToken(decoding: secret))?.claims
            let entries = Set(try claimEntries(row.integer(0), account: row.integer(1)))
            return claims.map { ClaimIndex(sealer).isMade(entries, of: $0) } ?? entries.isEmpty
        }
    }

    private func identityProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        let table = SealedTable.foreignEntry
        return try problems(table, rows, column: "identity", "is not that of the entry") { row, sealer in
            try unrecognizedEntry(row).identity(sealer) == row.blob(table["identity"])
        }
    }

    /// An entry without the hash is opened by every sign-out; a wrong hash would hide it from its own account's.
    private func accountHashProblems(_ rows: RowProgress) throws -> [StoreProblem] {
        let table = SealedTable.foreignEntry
        let keys = try currentKeys()
        return try problems(table, rows, column: "account_hash", "is not that of the entry's account") { row, _ in
            let (hash, entry) = (row.optionalBlob(table["account_hash"]), try unrecognizedEntry(row))
            // Those of before there were hashes get them when they are sealed anew.
            return hash == nil && keys.hasUnbound || keys.all.contains { entry.accountHash($0) == hash }
        }
    }

    private func eventAccountProblems() throws -> [StoreProblem] {
        // An altered key of marks is a problem of its own; until there is another one, no entry names an account.
        guard try currentMarkKey() != nil else { return [] }
        return try eventsOfOthers().map {
            StoreProblem(location: "event row \($0), account_id", problem: "is not the account of the entry")
        }
    }

    /// The rows for which `isRight` is false; it gets the sealer of the row, under whose key its hashes are.
    private func problems(
        _ table: SealedTable,
        _ rows: RowProgress,
        column: String,
        _ problem: String,
        _ isRight: (Row, Sealer) throws -> Bool
    ) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        let keys = try currentKeys()
        try connection.walk(table.everyRow) { row in
            try rows.advance()
            guard let id = Sealer.keyID(of: row.bytes(table.firstSealed)), let sealer = keys.sealer(id),
                try intact({ try isRight(row, sealer) }) == false
            else { return }
            problems.append(StoreProblem(location: "\(table.name) row \(row.integer(0)), \(column)", problem: problem))
        }
        return problems
    }
}
