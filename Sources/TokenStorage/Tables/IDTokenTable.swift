import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    static let idToken = SealedTable(
        "id_token",
        isOwned: true,
        clear: ["client_id", "client_fold", "environment", "realm", "realm_fold", "credential_type", "updated_at"],
        sealed: ["secret", "extra"],
        kept: ["client_fold", "environment", "realm_fold"]
    )
}

/// The row of an ID token.
struct IDTokenRow: Equatable {
    var clientID: String
    var environment: String
    var realm: String
    var realmFold: String
    var credentialType = "IdToken"
    var extra = JSONValue.Object()
    var secret: Secret
}

extension StoreConnection {
    private static let tokenAlike = SQL(
        SealedTable.idToken.selection
            + "WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.realm_fold = ?3 AND t.environment = ?4"
    )

    /// Adds the ID token, or replaces the one of the same account, client, tenant and host, with its claim index.
    ///
    /// - Returns: the row that was written; nil if nothing changed.
    func saveIDToken(_ token: IDTokenRow, claims: Claims?, account: Int64) throws -> Int64? {
        let known = try bareAccount == account ? nil : storedIDToken(like: token, account: account)
        var token = token
        if let (secret, extra) = known?.intact {
            token.extra = extra.merging(token.extra)
            if secret == token.secret, extra == token.extra { return nil }
        }
        let id = try writeIDToken(token, account: account, id: known?.id)
        try indexClaims(claims, idToken: id, account: account, isNew: known == nil)
        return id
    }

    private func storedIDToken(
        like token: IDTokenRow,
        account: Int64
    ) throws -> (id: Int64, intact: (Secret, JSONValue.Object)?)? {
        try firstToken(like: token, account: account) { row in
            (
                id: row.integer(0),
                intact: try intact { (try open(row, of: .idToken), try openMembers(row, of: .idToken, 1)) }
            )
        }
    }

    /// What `body` makes of the ID token of the same account, client, tenant and host; nil if there is none.
    private func firstToken<Found>(
        like token: IDTokenRow,
        account: Int64,
        _ body: (Row) throws -> Found
    ) throws -> Found? {
        try connection.first(
            Self.tokenAlike,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.environment),
            body: body
        )
    }

    /// Asks a server what ``saveIDToken(_:claims:account:)`` will ask first.
    func askAheadForIDToken(of request: TokenRequest, realm: String, account: Int64) throws {
        try connection.askAhead(
            Self.tokenAlike,
            .integer(account),
            .text(request.clientID.folded),
            .text(realm),
            .text(request.authority.environment)
        )
    }

    func deleteIDTokens(of account: Int64, client: String) throws {
        try connection.run(
            "DELETE FROM id_token WHERE account_id = ?1 AND client_fold = ?2",
            .integer(account),
            .text(client.folded)
        )
    }

    private func writeIDToken(_ token: IDTokenRow, account: Int64, id: Int64?) throws -> Int64 {
        try write(
            .idToken,
            id: id,
            account: account,
            clear: [
                .text(token.clientID), .text(token.clientID.folded), .text(token.environment), .text(token.realm),
                .text(token.realmFold), .text(token.credentialType), .integer(now),
            ],
            sealed: [token.secret, token.extra.isEmpty ? nil : Secret(token.extra)]
        )
    }

    /// Makes the index say what the claims of row `idToken` say now; on a refresh most of it stays.
    private func indexClaims(_ claims: Claims?, idToken: Int64, account: Int64, isNew: Bool) throws {
        let wanted = try claims.map { ClaimIndex(try currentSealer()).entries(of: $0) } ?? []
        let stored = isNew ? [] : Set(try claimEntries(idToken, account: account))
        let row = indexRow(idToken, account: account)
        for entry in stored.subtracting(wanted) {
            try connection.run(Self.entryDeletion, [.blob(entry.name), .blob(entry.value)] + row)
        }
        let new = stored.isEmpty ? wanted : wanted.filter { !stored.contains($0) }
        if connection.isServer { return try addOnServer(new[...], row) }
        for entry in new { try connection.run(Self.entryInsertion, [.blob(entry.name), .blob(entry.value)] + row) }
    }

    /// Several at a time: on a server a statement costs as much as a row.
    private func addOnServer(_ entries: ArraySlice<ClaimIndex.Entry>, _ row: [Value]) throws {
        var rest = entries
        while let (count, insertion) = Self.insertionsOnServer.first(where: { $0.count <= rest.count }) {
            let values = rest.prefix(count).flatMap { [Value.blob($0.name), .blob($0.value)] }
            try connection.run(insertion, row + values)
            rest = rest.dropFirst(count)
        }
    }

    func claimEntries(_ idToken: Int64, account: Int64) throws -> [ClaimIndex.Entry] {
        try connection.all(Self.entriesOfToken, .integer(idToken), .integer(account)) {
            ClaimIndex.Entry(name: $0.blob(0), value: $0.blob(1))
        }
    }

    private static let entriesOfToken = SQL { dialect in
        """
        SELECT c.name_hash, c.value_hash FROM id_token t JOIN claim_index c ON c.id_token_id = t.id
            \(dialect == .sqlite ? "" : "AND c.account_id = t.account_id")
        WHERE t.id = ?1 AND t.account_id = ?2
        """
    }

    /// What finds the entries of an ID token: a server spreads them by accounts, a file has no column for that.
    private func indexRow(_ idToken: Int64, account: Int64) -> [Value] {
        [.integer(idToken)] + (connection.isServer ? [.integer(account)] : [])
    }

    private static let entryDeletion = SQL { dialect in
        "DELETE FROM claim_index WHERE name_hash = ?1 AND \(dialect.unindexed("value_hash")) = ?2 AND id_token_id = ?3"
            + (dialect == .sqlite ? "" : " AND account_id = ?4")
    }

    private static let entryInsertion = SQL(
        "INSERT INTO claim_index (name_hash, value_hash, id_token_id) VALUES (?1, ?2, ?3)"
    )

    /// A statement for each count up to one that most ID tokens do not have.
    private static let insertionsOnServer = (1...16).reversed().map { count in
        let entries = (0..<count).map { "(?1, ?2, ?\(2 * $0 + 3), ?\(2 * $0 + 4))" }.joined(separator: ", ")
        return (
            count: count,
            sql: SQL("INSERT INTO claim_index (id_token_id, account_id, name_hash, value_hash) VALUES \(entries)")
        )
    }

    private static let tokensOfAccount = SQL(
        SealedTable.idToken.selection + """
            WHERE t.account_id = ?1 AND t.client_fold = coalesce(?2, t.client_fold)
            ORDER BY t.updated_at DESC, t.id DESC
            """
    )

    func askAheadForIDTokens(_ account: Int64) throws {
        try connection.askAhead(Self.tokensOfAccount, .integer(account), .null)
    }

    /// The ID tokens of an account, the one that was issued last first; those that are damaged are an error, or are
    /// left out.
    ///
    /// An import stores them all in one second, and older ones behind newer ones.
    func idTokens(
        _ account: Int64,
        client: String? = nil,
        leavingOutDamaged: Bool = false
    ) throws -> [StoredIDToken] {
        let (table, fold) = (SealedTable.idToken, client?.folded)
        let stored = try connection.all(Self.tokensOfAccount, .integer(account), .optional(fold)) {
            row -> StoredIDToken? in
            let secret = try leavingOutDamaged ? intact { try open(row, of: table) } : open(row, of: table)
            guard let secret, fold.map({ $0 == row.text(table["client_fold"]) }) ?? true,
                let idToken = try? IDToken(decoding: secret)
            else { return nil }
            return StoredIDToken(
                idToken: idToken,
                clientID: row.text(table["client_id"]),
                tenantID: row.text(table["realm_fold"]),
                updatedAt: row.date(table["updated_at"])
            )
        }
        let tokens = stored.compactMap(\.self)
        let times = tokens.map { $0.idToken.claims.issuedAt ?? $0.updatedAt }
        // Of those of one second the one that was stored last.
        return tokens.indices.sorted { (times[$0], $1) > (times[$1], $0) }.map { tokens[$0] }
    }

    /// The tenants, folded, of an account's ID tokens that cannot be decoded, such as encrypted ones.
    func tenantsOfUnreadableIDTokens(_ account: Int64) throws -> [String] {
        let table = SealedTable.idToken
        return try connection.all(Self.tokensOfAccount, .integer(account), .null) { row -> String? in
            let secret = try open(row, of: table)
            return (try? IDToken(decoding: secret)) == nil ? row.text(table["realm_fold"]) : nil
        }
        .compactMap(\.self)
    }
}

// MARK: - Import, export and maintenance

extension StoreConnection {
    /// The tenant that a domain means by which an ID token of an account names it, both folded.
    func tenant(ofDomain domain: String, account: Int64) throws -> String? {
        let table = SealedTable.idToken
        return try connection.all(Self.tokensOfAccount, .integer(account), .null) { row -> String? in
            let tenant = row.text(table["realm_fold"])
            guard tenant != domain, row.text(table["realm"]).folded == domain else { return nil }
            return try isIntact(row, of: table) ? tenant : nil
        }
        .compactMap(\.self).first
    }

    /// Takes in an ID token unless the store has one that was issued later.
    ///
    /// - Returns: the row that was written, nil if nothing changed; and how old the token is beside the one that was
    ///   there, nil where nothing tells.
    func importIDToken(_ token: IDTokenRow, claims: Claims?, account: Int64) throws -> (Int64?, ImportedAge?) {
        let stored =
            try firstToken(like: token, account: account) { row in
                try intact { (try open(row, of: .idToken), row.text(SealedTable.idToken["realm"])) }
            } ?? nil
        guard let (secret, realm) = stored, let known = (try? IDToken(decoding: secret))?.claims else {
            return (try saveIDToken(token, claims: claims, account: account), nil)
        }
        // One that cannot be decoded never replaces one that can.
        guard let claims else { return (nil, nil) }
        // One that does not tell when it was issued is older than one that does.
        let (newest, own) = (known.issuedAt?.unixSeconds ?? .min, claims.issuedAt?.unixSeconds ?? .min)
        let age: ImportedAge? = newest > own ? .older : newest < own ? .newer : nil
        // Of two of one time the first one stays, or two rows of one document would take turns.
        let stays = age == nil && secret != token.secret && !realm.isWordFor(token.realm)
        guard age != .older, !stays else { return (nil, age) }
        var token = token
        if token.realm.isWordFor(realm) { token.realm = realm }
        return (try saveIDToken(token, claims: claims, account: account), age)
    }

    private static let exportedTokens = SQL(
        SealedTable.idToken.selection(with: "a.home_account_id") + "WHERE a.id IS NOT NULL ORDER BY t.id"
    )

    /// Calls `body` with each ID token, and its account.
    func forEachIDToken(_ body: (IDTokenRow, Account.ID) throws -> Void) throws {
        let table = SealedTable.idToken
        try connection.walk(Self.exportedTokens) { row in
            let token = IDTokenRow(
                clientID: row.text(table["client_id"]),
                environment: row.text(table["environment"]),
                realm: row.text(table["realm"]),
                realmFold: row.text(table["realm_fold"]),
                credentialType: row.text(table["credential_type"]),
                extra: try openMembers(row, of: table, 1),
                secret: try open(row, of: table)
            )
            try body(token, table.account(row.text(table.end), of: row))
        }
    }

    private static let tokenOfRow = SQL(SealedTable.idToken.selection + "WHERE t.id = ?1 AND t.account_id = ?2")

    /// Makes the claim index of a row anew, under the current data key.
    func rehashClaims(_ row: Int64, account: Int64) throws {
        let token = try connection.first(Self.tokenOfRow, .integer(row), .integer(account)) {
            try open($0, of: .idToken)
        }
        // A token that cannot be decoded has no claims, and no index.
        try indexClaims(
            token.flatMap { try? IDToken(decoding: $0) }?.claims,
            idToken: row,
            account: account,
            isNew: false
        )
    }

    func deleteClaimIndex() throws { try connection.run("DELETE FROM claim_index") }
}
