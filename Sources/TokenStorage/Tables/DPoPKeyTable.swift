import Database
package import OAuth
import SQL

extension SealedTable {
    static let dpopKey = SealedTable(
        "dpop_key",
        isOwned: true,
        clear: ["client_fold", "thumbprint", "created_at"],
        sealed: ["secret"]
    )
}

extension StoreConnection {
    private static let keyOfAccount = SealedTable.dpopKey.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 4, owners: ["t.account_id"]))
            AND t.client_fold = ?3
        """
    }

    /// The key that the tokens of an account at a client are bound to; nil where they are bound to none.
    func boundKey(of account: Account.ID, client: String) throws -> BoundKey? {
        let table = SealedTable.dpopKey
        return try connection.first(Self.keyOfAccount, place(of: account, client)) { row in
            BoundKey(thumbprint: row.text(table["thumbprint"]), secret: try open(row, of: table))
        }
    }

    /// The thumbprint of that key, which is not checked: a token that names it was sealed together with the name.
    func boundKeyID(of account: Account.ID, client: String) throws -> String? {
        let table = SealedTable.dpopKey
        return try connection.first(Self.keyOfAccount, place(of: account, client)) { $0.text(table["thumbprint"]) }
    }

    /// Asks a server what ``boundKey(of:client:)`` or ``boundKeyID(of:client:)`` will ask.
    func askAheadForBoundKey(of account: Account.ID, client: String) throws {
        try connection.askAhead(Self.keyOfAccount, place(of: account, client))
    }

    private func place(of account: Account.ID, _ client: String) -> [Value] {
        values(.text(account.key), .text(account.issuer), .text(client.folded), of: account)
    }

    /// Whether the tokens of an account row at a client are bound to the key of this thumbprint.
    func isBound(_ account: Int64, client: String, to thumbprint: String) throws -> Bool {
        try keyRow(account, client: client)?.thumbprint == thumbprint
    }

    /// Binds an account at a client to the key of a sign-in, or to none.
    ///
    /// The access tokens of before go: what is bound to another key can be proved no more, and what is bound to none is
    /// less than the new sign-in asked for. So does the refresh token that came with the key or later, where the
    /// sign-in brings none that takes its place.
    func bind(_ account: Int64, client: String, to key: BoundKey?, bringsRefreshToken: Bool) throws {
        let known = try keyRow(account, client: client)
        guard known != nil || key != nil, known?.thumbprint != key?.thumbprint else { return }
        try deleteAccessTokens(of: account, client: client)
        if let known, !bringsRefreshToken {
            try deleteRefreshTokens(of: account, client: client, since: known.createdAt)
        }
        try deleteBoundKey(of: account, client: client)
        guard let key else { return }
        try write(
            .dpopKey,
            id: nil,
            account: account,
            clear: [.text(client.folded), .text(key.thumbprint), .integer(now)],
            sealed: [key.secret]
        )
    }

    func deleteBoundKey(of account: Int64, client: String) throws {
        try connection.run(
            "DELETE FROM dpop_key WHERE account_id = ?1 AND client_fold = ?2",
            .integer(account),
            .text(client.folded)
        )
    }

    private func keyRow(_ account: Int64, client: String) throws -> (thumbprint: String, createdAt: Int64)? {
        try connection.first(Self.thumbprint, .integer(account), .text(client.folded)) {
            (thumbprint: $0.text(0), createdAt: $0.integer(1))
        }
    }

    /// Asks a server what ``bind(_:client:to:bringsRefreshToken:)`` will ask.
    func askAheadForBoundKey(_ account: Int64, client: String) throws {
        try connection.askAhead(Self.thumbprint, .integer(account), .text(client.folded))
    }

    private static let thumbprint = SQL(
        "SELECT thumbprint, created_at FROM dpop_key WHERE account_id = ?1 AND client_fold = ?2"
    )
}

extension StoreReading {
    /// How many sessions are bound to a key, and so are in no export.
    package func boundSessionCount() throws -> Int {
        try read { session in Int(try session.connection.integer("SELECT count(*) FROM dpop_key") ?? 0) }
    }

    /// Whether access tokens of an account at a client are bound to the session's key, and not its refresh token alone;
    /// nil where there is a key, and no access token that tells.
    package func hasBoundAccessTokens(of account: Account.ID, client: String) throws -> Bool? {
        try read { session in
            guard let key = try session.boundKeyID(of: account, client: client),
                let row = try session.accountRow(account)
            else { return false }
            let keys = try session.connection.all(
                "SELECT token_type_fold, key_id FROM access_token WHERE account_id = ?1 AND client_fold = ?2",
                .integer(row),
                .text(client.folded)
            ) { $0.text(0) == "dpop" && $0.text(1) == key }
            return keys.isEmpty ? nil : keys.contains(true)
        }
    }

    /// The key that the tokens of an account at a client are bound to; nil where they are bound to none.
    package func boundKey(of account: Account.ID, client: String) throws -> BoundKey? {
        try read { session in try session.connection.read { try session.boundKey(of: account, client: client) } }
    }
}
