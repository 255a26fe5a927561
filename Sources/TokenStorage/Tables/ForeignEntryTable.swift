import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    /// The identity and the hash of the account are keyed hashes of what is sealed: a check compares both.
    static let foreignEntry = SealedTable(
        "foreign_entry",
        isOwned: false,
        clear: ["rejection"],
        sealed: ["entry"],
        derived: ["identity", "account_hash"]
    )
}

extension StoreConnection {
    /// Adds or replaces the entry, unless the one that is there was written later.
    ///
    /// - Returns: whether anything changed.
    func saveUnrecognizedEntry(_ entry: UnrecognizedEntry) throws -> Bool {
        let known = try known(entry)
        if let known = known?.entry {
            let isSame =
                known.value == entry.value && known.raw == entry.raw && known.rejection == entry.rejection
            if isSame || entry.isOlder(than: known, now: now) { return false }
        }
        try write(
            .foreignEntry,
            id: known?.id,
            clear: [.optional(entry.rejection)],
            sealed: [Secret(entry.members)],
            derived: [
                .blob(entry.identity(try currentSealer())), .optional(entry.accountHash(try currentSealer())),
            ]
        )
        return true
    }

    func deleteUnrecognizedEntry(_ row: Int64) throws {
        try connection.run("DELETE FROM foreign_entry WHERE id = ?1", .integer(row))
    }

    /// The rows of quarantined entries, by their paths.
    func quarantinedEntries() throws -> [UnrecognizedEntry.Path: Int64] {
        var rows: [UnrecognizedEntry.Path: Int64] = [:]
        try connection.forEach(Self.rejectedEntries) { row in
            rows[try unrecognizedEntry(row).path] = row.integer(0)
        }
        return rows
    }

    /// The stored entry of the same bucket and key, which a rekey that is under way may not have come to yet.
    private func known(_ entry: UnrecognizedEntry) throws -> (id: Int64, entry: UnrecognizedEntry)? {
        for sealer in try [currentSealer()] + keys().all {
            let known = try connection.first(Self.entryAlike, .blob(entry.identity(sealer))) {
                (id: $0.integer(0), entry: try unrecognizedEntry($0))
            }
            if let known { return known }
        }
        return nil
    }

    /// Calls `body` with each kept entry and its row, those of one import in their order.
    func forEachUnrecognizedEntry(_ body: (Int64, UnrecognizedEntry) throws -> Void) throws {
        try connection.walk(Self.entries) { row in
            try body(row.integer(0), unrecognizedEntry(row))
        }
    }

    private static let entries = SQL(SealedTable.foreignEntry.selection + "ORDER BY t.id")
    private static let rejectedEntries = SQL(SealedTable.foreignEntry.selection + "WHERE t.rejection IS NOT NULL")
    private static let entryAlike = toBeChanged("t.identity = ?1")
    private static let entriesWithoutHash = toBeChanged("t.account_hash IS NULL")
    private static let entriesOfHash = toBeChanged("t.account_hash = ?1")

    /// Entries that stay as they are read: of two nodes that take accounts out of one, neither brings the other's back.
    private static func toBeChanged(_ condition: String) -> SQL {
        let entries = SealedTable.foreignEntry.selection + "WHERE \(condition)"
        return SQL { $0 == .sqlite ? entries : entries + " ORDER BY t.id FOR UPDATE" }
    }

    /// The kept entries that may be of accounts with these folded ids, with their rows; others are not opened.
    private func unrecognizedEntries(of ids: some Sequence<String>) throws -> [(row: Int64, entry: UnrecognizedEntry)] {
        // Without entries no key is needed.
        guard try connection.integer("SELECT max(id) FROM foreign_entry") ?? 0 > 0 else { return [] }
        let sealers = try keys().all
        let hashes = Set(ids.flatMap { id in sealers.map { UnrecognizedEntry.accountHash(of: id, $0) } })
        var entries = try connection.all(Self.entriesWithoutHash) {
            (row: $0.integer(0), entry: try unrecognizedEntry($0))
        }
        // Of before there were hashes; the next sign-out finds them by theirs.
        for (row, entry) in entries { try updateAccountHash(of: entry, row) }
        for hash in hashes {
            entries += try connection.all(Self.entriesOfHash, .blob(hash)) {
                (row: $0.integer(0), entry: try unrecognizedEntry($0))
            }
        }
        // A bucket of the wrong type names no account, and may hold the tokens of any. One that was altered is for a
        // check to tell: it must not stop the sign-out of everyone.
        for hash in sealers.map({ UnrecognizedEntry.accountHash(of: "", $0) }) {
            entries += try connection.all(Self.entriesOfHash, .blob(hash)) { row in
                try intact { (row: row.integer(0), entry: try unrecognizedEntry(row)) }
            }.compactMap(\.self)
        }
        // One that got its hash just now is there twice.
        return Dictionary(entries.map { ($0.row, $0.entry) }) { first, _ in first }.map { (row: $0, entry: $1) }
    }

    private func updateAccountHash(of entry: UnrecognizedEntry, _ row: Int64) throws {
        try connection.run(
            Self.hashUpdate,
            [.integer(row), .optional(entry.accountHash(try currentSealer()))]
        )
    }

    private static let hashUpdate = SQL { dialect in
        "UPDATE foreign_entry SET account_hash = ?2 WHERE id = ?1 AND NOT (\(dialect.same("account_hash", "?2")))"
    }

    private static let entryOfRow = SQL(SealedTable.foreignEntry.selection + "WHERE t.id = ?1")

    /// Computes the hashes of an entry anew, under the current data key.
    func rehashUnrecognizedEntry(_ row: Int64) throws {
        let entry = try connection.first(Self.entryOfRow, .integer(row)) { try unrecognizedEntry($0) }
        guard let entry else { return }
        let identity = entry.identity(try currentSealer())
        // What stands under the new identity already was imported meanwhile, and is the newer one of the two.
        let newer = try connection.integer("SELECT id FROM foreign_entry WHERE identity = ?1", .blob(identity))
        if let newer, newer != row {
            try deleteUnrecognizedEntry(row)
        } else {
            try connection.run("UPDATE foreign_entry SET identity = ?2 WHERE id = ?1", .integer(row), .blob(identity))
            try updateAccountHash(of: entry, row)
        }
    }

    func unrecognizedEntryCounts() throws -> (quarantined: Int, unknown: Int)? {
        try connection.first(
            """
            SELECT count(*) FILTER (WHERE rejection IS NOT NULL), count(*) FILTER (WHERE rejection IS NULL)
            FROM foreign_entry
            """
        ) { (Int(count: $0.integer(0)), Int(count: $0.integer(1))) }
    }

    /// The entry of a row that was selected with ``SealedTable/selection``.
    func unrecognizedEntry(_ row: Row) throws -> UnrecognizedEntry {
        UnrecognizedEntry(
            try openMembers(row, of: .foreignEntry),
            rejection: row.optionalText(SealedTable.foreignEntry["rejection"])
        )
    }
}

extension StoreConnection {
    /// Deletes what is kept aside of accounts: entries that name one of them, and their parts of the account metadata.
    ///
    /// With a client only its entries go, and the accounts stay for others.
    func deleteUnrecognizedEntries(of accounts: [Account.ID], client: String? = nil) throws {
        let forgotten = Dictionary(grouping: accounts) { $0.homeAccountID.folded }
        var deleted: [Int64] = []
        var changed: [UnrecognizedEntry] = []
        for (row, entry) in try unrecognizedEntries(of: forgotten.keys) {
            guard entry.bucket != Self.accountMetadataBucket else {
                // It holds no token, and of an account that stays it says who is signed out.
                guard client == nil else { continue }
                let rest = entry.value.removingAccountMetadata { name in
                    forgotten[name.folded]?.contains { $0.named(name) == $0 } ?? false
                }
                guard let rest else {
                    deleted.append(row)
                    continue
                }
                if rest != entry.value { changed.append(entry.replacing(value: rest)) }
                continue
            }
            guard client != nil || entry.key != nil || entry.rejection == nil else {
                // A bucket of the wrong type may hold the tokens of any account.
                let text = entry.value.serialized.folded
                if forgotten.keys.contains(where: text.contains) { deleted.append(row) }
                continue
            }
            let named = entry.homeAccountIDs.flatMap { forgotten[$0] ?? [] }
            let isNamed = try named.contains { account in
                try entry.mayBelong(to: account) { try hasAccount(key: account.key, environment: $0) }
            }
            if isNamed, entry.isOf(client) { deleted.append(row) }
        }
        for row in deleted { try deleteUnrecognizedEntry(row) }
        for entry in changed { _ = try saveUnrecognizedEntry(entry) }
    }
}
