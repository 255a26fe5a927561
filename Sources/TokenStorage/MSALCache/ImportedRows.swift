import OAuth
import SQLite
import Sealing

extension StoreConnection {
    /// The row of the account, made if there is none; where there is one, gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        guard let row = try accountRow(identity.id) else { return try insertAccount(identity, account) }
        try changeAccount(row) { known in
            if known.username.isEmpty { known.username = account.username }
            known.policy = known.policy ?? account.policy
            known.issuer = known.issuer ?? account.issuer
        }
        return row
    }

    /// Gives an account the names of an imported row; empty ones change nothing.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func nameAccount(_ row: Int64, username: String, name: String?, isHome: Bool) throws {
        try changeAccount(row) { known in
            if !username.isEmpty, isHome || known.username.isEmpty { known.username = username }
            known.name = isHome ? name ?? known.name : known.name ?? name
        }
    }

    /// Takes in an ID token unless the store has one that was issued later.
    func importIDToken(_ token: IDTokenRow, claims: Claims?, account: Int64) throws -> Bool {
        let stored =
            try connection.first(
                Self.tokenAlike,
                .integer(account),
                .text(token.clientID.folded),
                .text(token.realmFold),
                .text(token.environment)
            ) { row in
                try intact { (try open(row, of: .idToken), row.text(SealedTable.idToken["realm"])) }
            } ?? nil
        guard let (secret, realm) = stored, let known = (try? IDToken(decoding: secret))?.claims else {
            return try saveIDToken(token, claims: claims, account: account)
        }
        // A token that cannot be decoded takes the place of none that can.
        guard let claims else { return false }
        if let newest = known.issuedAt, let own = claims.issuedAt {
            let isNamed = realm.isWordFor(token.realm)
            if newest > own || newest == own && secret != token.secret && !isNamed { return false }
        }
        var token = token
        if token.realm.isWordFor(realm) { token.realm = realm }
        return try saveIDToken(token, claims: claims, account: account)
    }

    /// An import of a refresh token is a person's word that the account is to be used again.
    func forgetSignOut(account: Int64, client: String) throws {
        try connection.run(
            """
            DELETE FROM account_state WHERE account_id = ?1 AND client_fold = ?2 AND state = 'signed_out'
            """,
            .integer(account),
            .text(client.folded)
        )
    }
}

extension String {
    /// Whether this realm is a word such as "organizations", and `other` a tenant.
    func isWordFor(_ other: String) -> Bool { Authority.isTenantless(self) && !Authority.isTenantless(other) }
}
