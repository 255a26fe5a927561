import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    static let accountState = SealedTable(
        "account_state",
        isOwned: true,
        clear: ["client_fold", "state", "changed_at"],
        sealed: ["mac"],
        kept: ["client_fold"],
        whenAltered: .isRefused
    )

    /// One that was altered counts for nothing.
    static let signOut = SealedTable(
        "sign_out",
        isOwned: false,
        clear: ["account_mark", "client_fold", "changed_at"],
        sealed: ["mac"],
        whenAltered: .countsForNothing
    )
}

extension StoreConnection {
    /// The sign-in state of an account at a client; of one that is gone, whether it signed out.
    func signInState(of id: Account.ID, client: String) throws -> SignInState {
        if let row = try accountRow(id) { return try signInState(of: row, client: client) }
        guard let mark = try mark(of: id) else { return .unknown }
        return try signOuts(of: mark).contains { $0?.client == client.folded } ? .signedOut : .unknown
    }

    /// The state of the account of a row.
    func signInState(of account: Int64, client: String) throws -> SignInState {
        let state = try connection.first(Self.stateAtClient, .integer(account), .text(client.folded)) { row in
            try verify(row, of: .accountState)
            return row.text(SealedTable.accountState["state"])
        }
        return state.flatMap(SignInState.init(stored:)) ?? .unknown
    }

    /// Asks a server what ``signInState(of:client:)`` of a row, ``signInTime(ofAccount:client:)`` or
    /// ``setSignInState(_:of:client:isNew:)`` will ask.
    func askAheadForState(of account: Int64, client: String) throws {
        try connection.askAhead(Self.stateAtClient, .integer(account), .text(client.folded))
    }

    private static let stateAtClient = SQL(
        SealedTable.accountState.selection + "WHERE t.account_id = ?1 AND t.client_fold = ?2"
    )

    /// The clients, folded, that an account is signed in to by its state; they may hold no token of it.
    func signedInClients(_ account: Int64) throws -> [String] {
        try connection.all(
            "SELECT client_fold FROM account_state WHERE account_id = ?1 AND state = 'signed_in'",
            .integer(account)
        ) { $0.text(0) }
    }

    /// The rows of the accounts that have signed out of a client, and stay for others.
    func signedOutRows(client: String) throws -> [Int64] {
        try connection.all(
            "SELECT account_id FROM account_state WHERE client_fold = ?1 AND state = 'signed_out' ORDER BY account_id",
            .text(client.folded)
        ) { $0.integer(0) }
    }

    /// When the person signed in to a client, and when the account was last used, in Unix seconds; nil where that is
    /// not known, as after an import or a refusal.
    func sessionTimes(of id: Account.ID, client: String) throws -> (signIn: Int64, lastUse: Int64)? {
        guard let account = try accountRow(id), let signIn = try signInTime(ofAccount: account, client: client)
        else { return nil }
        return (signIn, try lastUse(ofAccount: account) ?? signIn)
    }

    /// When the person signed in to a client; nil as for ``sessionTimes(of:client:)``.
    func signInTime(ofAccount account: Int64, client: String) throws -> Int64? {
        let (table, signedIn) = (SealedTable.accountState, SignInState.signedIn.stored)
        return try connection.first(Self.stateAtClient, .integer(account), .text(client.folded)) { row in
            try verify(row, of: .accountState)
            return row.text(table["state"]) == signedIn ? row.integer(table["changed_at"]) : nil
        } ?? nil
    }

    /// The grant of the last sign-in of an account in its home tenant; nil where that is not known, as of an import that
    /// does not say it.
    func signInGrant(of id: Account.ID) throws -> Grant? {
        guard let account = try accountRow(id) else { return nil }
        let source = try connection.first(Self.homeProfile, .integer(account)) { row in
            try openMembers(row, of: .tenantProfile)["account_source"]?.text
        }
        return (source ?? nil).map { Grant(rawValue: $0) }
    }

    private static let homeProfile = SQL(
        SealedTable.tenantProfile.selection + """
            WHERE t.account_id = ?1
            ORDER BY t.realm_fold = lower(coalesce(a.utid, t.realm_fold)) DESC, t.id DESC LIMIT 1
            """
    )

    /// Sets the state; a new sign-in counts from now although the account was signed in before.
    @discardableResult
    func setSignInState(
        _ state: SignInState,
        of account: Int64,
        client: String,
        isNew: Bool = false
    ) throws -> Bool {
        guard bareAccount != account else {
            try writeState(state, of: account, client: client.folded, changedAt: now, id: nil)
            return true
        }
        let known = try connection.first(Self.stateAtClient, .integer(account), .text(client.folded)) { row in
            let isIntact = try isIntact(row, of: .accountState)
            return (id: row.integer(0), state: isIntact ? row.text(SealedTable.accountState["state"]) : nil)
        }
        let isChanged = known?.state != state.stored
        if isChanged || isNew {
            try writeState(state, of: account, client: client.folded, changedAt: now, id: known?.id)
        }
        return isChanged
    }

    /// The user asked for the import of a refresh token, so a signed-out account becomes active again.
    func forgetSignOut(account: Int64, client: String) throws {
        try connection.run(
            """
            DELETE FROM account_state WHERE account_id = ?1 AND client_fold = ?2 AND state = 'signed_out'
            """,
            .integer(account),
            .text(client.folded)
        )
    }

    private func writeState(_ state: SignInState, of account: Int64, client: String, changedAt: Int64, id: Int64?)
        throws
    {
        try write(
            .accountState,
            id: id,
            account: account,
            clear: [.text(client), .text(state.stored), .integer(changedAt)],
            sealed: [Secret("")]
        )
    }
}

// MARK: - Accounts that are gone

extension StoreConnection {
    /// Remembers the sign-outs of an account whose row is about to go, without its name.
    func keepSignOuts(of id: Account.ID, row: Int64) throws {
        let clients = try connection.all(
            "SELECT client_fold, changed_at FROM account_state WHERE account_id = ?1 AND state = 'signed_out'",
            .integer(row)
        ) { ($0.text(0), $0.integer(1)) }
        for (client, changedAt) in clients { try keepSignOut(of: id, client: client, changedAt: changedAt) }
    }

    /// Remembers that an account which is not stored signed out of a client.
    func keepSignOut(of id: Account.ID, client: String, changedAt: Int64? = nil) throws {
        let mark = try newMark(of: id)
        try connection.run(
            "DELETE FROM sign_out WHERE account_mark = ?1 AND client_fold = ?2",
            .blob(mark),
            .text(client.folded)
        )
        try write(
            .signOut,
            id: nil,
            clear: [.blob(mark), .text(client.folded), .integer(changedAt ?? now)],
            sealed: [Secret("")]
        )
    }

    /// Gives the new row of an account the sign-outs that were remembered of it.
    ///
    /// - Returns: whether there were any.
    func takeBackSignOuts(of id: Account.ID, row: Int64) throws -> Bool {
        if presumption?.account == id { return false }
        guard let mark = try mark(of: id) else { return false }
        let signOuts = try signOuts(of: mark)
        // A store on several machines has a copy of these rows on each: nothing is written where there is nothing.
        guard !signOuts.isEmpty else { return false }
        for case let signOut? in signOuts {
            try writeState(.signedOut, of: row, client: signOut.client, changedAt: signOut.changedAt, id: nil)
        }
        try connection.run("DELETE FROM sign_out WHERE account_mark = ?1", .blob(mark))
        return signOuts.contains { $0 != nil }
    }

    /// Asks a server what ``takeBackSignOuts(of:row:)`` will ask, by the key that was known last.
    func askAheadForSignOuts(of id: Account.ID) throws {
        try askAheadForMarkKey()
        if let markKey { try connection.askAhead(Self.signOutsOfMark, .blob(markKey.mark(of: id))) }
    }

    /// Of an altered one nothing is told.
    private func signOuts(of mark: [UInt8]) throws -> [(client: String, changedAt: Int64)?] {
        let table = SealedTable.signOut
        return try connection.all(Self.signOutsOfMark, .blob(mark)) { row in
            try isIntact(row, of: table)
                ? (client: row.text(table["client_fold"]), changedAt: row.integer(table["changed_at"])) : nil
        }
    }

    private static let signOutsOfMark = SQL(SealedTable.signOut.selection + "WHERE t.account_mark = ?1")
}
