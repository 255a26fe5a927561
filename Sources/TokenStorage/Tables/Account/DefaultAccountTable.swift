import Database
public import OAuth
import SQL
import Sealing

extension SealedTable {
    static let defaultAccount = SealedTable(
        "default_account",
        isOwned: true,
        clear: ["chosen_at"],
        sealed: ["mac"],
        whenAltered: .countsForNothing
    )
}

extension StoreReading {
    /// The account that a person chose for when several fit; nil where none is chosen.
    ///
    /// ``AccountPolicy/defaultAccount`` selects by it. A choice that was altered in the database counts for none.
    public func defaultAccount() throws -> Account? {
        try read { session in
            try session.connection.read { try session.defaultAccountRow().flatMap { try session.account($0) } }
        }
    }

    /// The account that a person chose, read off the threads of Swift concurrency.
    public func defaultAccount() async throws -> Account? {
        try await connections.reading.runUnlessCancelled { try self.defaultAccount() }
    }
}

extension TokenStore {
    /// Makes an account the default one, for every program of the store, in place of the one before; nil: none is.
    ///
    /// The choice goes with the account, and an export in MSAL's format has no place for it.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if the account is not stored.
    public func setDefaultAccount(_ account: Account.ID?) throws {
        try write { session in
            // Of two that choose at once the later one is to see the other's choice.
            try session.lockForManyAccounts()
            guard let account else {
                try session.connection.run("DELETE FROM default_account")
                return
            }
            guard let row = try session.confirmedAccountRow(account) else {
                throw TokenStoreError.invalidArgument("the account is not in the store", .correct("sign in first"))
            }
            try session.chooseAccount(row)
        }
    }

    /// Makes an account the default one, unless the task is cancelled before its turn.
    public func setDefaultAccount(_ account: Account.ID?) async throws {
        try await connections.writing.runUnlessCancelled { try self.setDefaultAccount(account) }
    }
}

extension StoreConnection {
    private static let chosen = SQL(SealedTable.defaultAccount.selection)

    /// The row of the default account, which only a program with the key can have chosen.
    func defaultAccountRow() throws -> Int64? {
        try connection.first(Self.chosen) { row in
            try isIntact(row, of: .defaultAccount) ? row.integer(1) : nil
        } ?? nil
    }

    fileprivate func chooseAccount(_ account: Int64) throws {
        try connection.run("DELETE FROM default_account WHERE account_id <> ?1", .integer(account))
        try write(.defaultAccount, id: 1, account: account, clear: [.integer(now)], sealed: [Secret("")])
    }
}
