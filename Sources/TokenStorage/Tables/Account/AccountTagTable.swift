import Database
public import OAuth
import SQL
import Sealing

extension SealedTable {
    static let accountTag = SealedTable(
        "account_tag",
        isOwned: true,
        clear: [],
        sealed: ["secret"],
        derived: ["name_hash", "value_hash"]
    )
}

extension StoreReading {
    /// What programs noted of an account.
    ///
    /// - Throws: ``TokenStoreError``.
    public func tags(of account: Account.ID) throws -> [String: String] {
        try read { session in
            try session.connection.read { try session.accountRow(account).map { try session.tags($0) } ?? [:] }
        }
    }
}

extension TokenStore {
    /// Notes `tags` of an account in place of those that it has, in one commit.
    ///
    /// They are sealed as tokens are, found by ``AccountPolicy/tag(_:equals:)``, and go with the account. An export in
    /// MSAL's format has no place for them.
    ///
    /// - Throws: ``TokenStoreError`` with the code `invalidArgument` if a name is empty or holds `=`, if a name or
    ///   value is too long, or if the account is not stored.
    public func setTags(_ tags: [String: String], of account: Account.ID) throws {
        try changeTags(of: account) { $0 = tags }
    }

    /// Changes the tags of an account in one commit, whatever other processes change meanwhile.
    ///
    /// - Returns: the tags that it has now.
    /// - Throws: as `setTags(_:of:)`.
    @discardableResult
    public func changeTags(of account: Account.ID, _ body: (inout [String: String]) -> Void) throws -> [String: String]
    {
        var written: [String: String]?
        return try write { session in
            guard let row = try session.confirmedAccountRow(account) else {
                throw TokenStoreError.invalidArgument("the account is not in the store", .correct("sign in first"))
            }
            let before = try session.tags(row)
            // Of tags that were all taken away nothing else tells that it happened.
            if session.mayHaveHappened, before.isEmpty, let written, written.isEmpty { return written }
            var tags = before
            body(&tags)
            for (name, value) in tags { try AccountTag(name: name, value: value).check() }
            if !tags.hasSameBytes(as: before) { try session.replaceTags(tags, of: row) }
            written = tags
            return tags
        }
    }
}

extension StoreConnection {
    private static let tagsOfAccount = SQL(SealedTable.accountTag.selection + "WHERE t.account_id = ?1 ORDER BY t.id")
    private static let tagOfRow = SQL(SealedTable.accountTag.selection + "WHERE t.id = ?1 AND t.account_id = ?2")

    func tags(_ account: Int64) throws -> [String: String] {
        let tags = try connection.all(Self.tagsOfAccount, .integer(account)) { try tag($0) }
        return Dictionary(tags.map { ($0.name, $0.value) }) { $1 }
    }

    /// The tag of a row of ``SealedTable/accountTag``.
    func tag(_ row: Row) throws -> AccountTag {
        let members = try openMembers(row, of: .accountTag)
        return AccountTag(name: members["name"]?.text ?? "", value: members["value"]?.text ?? "")
    }

    fileprivate func replaceTags(_ tags: [String: String], of account: Int64) throws {
        try connection.run("DELETE FROM account_tag WHERE account_id = ?1", .integer(account))
        let sealer = try currentSealer()
        for (name, value) in tags.sorted(by: { $0.key < $1.key }) {
            let tag = AccountTag(name: name, value: value)
            try write(
                .accountTag,
                id: nil,
                account: account,
                clear: [],
                sealed: [tag.secret],
                derived: [.blob(tag.nameHash(sealer)), .blob(tag.valueHash(sealer))]
            )
        }
    }

    /// Computes the hashes of a row anew, under the current data key.
    func rehashTag(_ row: Int64, account: Int64) throws {
        let stored = try connection.first(Self.tagOfRow, .integer(row), .integer(account)) { try tag($0) }
        guard let tag = stored else { return }
        let sealer = try currentSealer()
        try connection.run(
            "UPDATE account_tag SET name_hash = ?2, value_hash = ?3 WHERE id = ?1 AND account_id = ?4",
            .integer(row),
            .blob(tag.nameHash(sealer)),
            .blob(tag.valueHash(sealer)),
            .integer(account)
        )
    }

    /// Whether an account has a tag, by what is sealed.
    func hasTag(_ criterion: TagCriterion, account: Int64) throws -> Bool {
        try tags(account).contains { name, value in
            name == criterion.name && criterion.value ?? value.folded == value.folded
        }
    }
}

extension [String: String] {
    /// Whether names and values are the same byte by byte, as they are hashed: `==` takes two spellings of a letter for
    /// one.
    fileprivate func hasSameBytes(as other: [String: String]) -> Bool {
        guard count == other.count else { return false }
        let (left, right) = (sorted { $0.key < $1.key }, other.sorted { $0.key < $1.key })
        return left.indices.allSatisfy { index in
            left[index].key.hasSameBytes(as: right[index].key) && left[index].value.hasSameBytes(as: right[index].value)
        }
    }
}

/// One note of an account.
struct AccountTag: Equatable {
    let name: String
    let value: String

    private static let longestName = 256
    private static let longestValue = 4_096

    var secret: Secret { Secret(JSONValue.Object([("name", .string(name)), ("value", .string(value))])) }

    func check() throws {
        let isName = !name.isEmpty && !name.utf8.contains(UInt8(ascii: "=")) && !name.hasControlCharacters
        guard isName, name.utf8.count <= Self.longestName else {
            throw TokenStoreError.invalidArgument(
                "a tag's name is empty, too long, or holds '=' or control characters",
                .correct("choose another")
            )
        }
        guard value.utf8.count <= Self.longestValue else {
            throw TokenStoreError.invalidArgument(
                "the value of the tag \(name) is too long",
                .correct("give at most 4096 bytes")
            )
        }
    }

    func nameHash(_ sealer: Sealer) -> [UInt8] { TagCriterion(name: name, value: nil).nameHash(sealer) }

    func valueHash(_ sealer: Sealer) -> [UInt8] { TagCriterion.valueHash(name: name, value: value.folded, sealer) }
}

/// What a tag must be; a value is folded, and nil where any will do.
struct TagCriterion: Hashable, Sendable {
    let name: String
    let value: String?

    /// Not the hash of a claim of the same name, so that rows of both say nothing of each other.
    private static func label(_ name: String) -> String { "tag\u{1F}" + name }

    func nameHash(_ sealer: Sealer) -> [UInt8] { sealer.claimNameHash(Self.label(name)) }

    static func valueHash(name: String, value: String, _ sealer: Sealer) -> [UInt8] {
        sealer.claimValueHash(name: label(name), value: value)
    }
}
