import Database
public import OAuth

extension StoreReading {
    /// The accounts that `policy` leaves, by username.
    public func accounts(matching policy: AccountPolicy = .all) throws -> [Account] {
        try read { session in
            try session.connection.read {
                try session.sound(session.accounts(matching: policy))
            }
        }
    }

    /// How many accounts `policy` leaves.
    public func accountCount(matching policy: AccountPolicy = .all) throws -> Int {
        try read { session in try session.connection.read { try session.accountCount(matching: policy) } }
    }

    /// The accounts that are signed in to `client`: with a refresh token it may use, or marked as signed in, and never
    /// signed out.
    public func signedInAccounts(client: String) throws -> [Account] {
        try read { session in
            try session.connection.read {
                try session.sound(session.accounts(ofRows: session.signedInRows(client: client)))
            }
        }
    }

    /// The accounts that `client` knows: those that it has a token of, those that are signed in to it, and those that
    /// have signed out of it and stay for another client.
    package func accounts(knownTo client: String) throws -> [Account] {
        try read { session in
            try session.connection.read {
                var (own, ownRows): ([Account], Set<Int64>) = ([], [])
                let read: @Sendable (StoreConnection, Int64) throws -> (row: Int64, account: Account?) = {
                    ($1, try $0.account($1))
                }
                try session.forEachAccountRow(
                    matching: .client(client),
                    sortedBy: .username,
                    askingAhead: session.askAheadForAccount,
                    reading: read
                ) { found in
                    ownRows.insert(found.row)
                    if let account = found.account { own.append(account) }
                }
                // A family's token is another client's.
                let rows = try session.signedInRows(client: client) + session.signedOutRows(client: client)
                let others = try session.accounts(ofRows: rows.filter { !ownRows.contains($0) })
                return try session.sound(own + others)
            }
        }
    }

    /// What `policy` selects, with the reason for each account that was looked at.
    public func select(_ policy: AccountPolicy) throws -> AccountSelection {
        try read { session in
            try session.connection.read {
                let selection = try session.select(policy)
                if selection.fitting == 0 { try session.requireSoundness() }
                return selection
            }
        }
    }

    /// The one account that `policy` leaves, or nil where it leaves none.
    ///
    /// - Throws: ``TokenStoreError/Code/ambiguousAccount`` where it leaves several.
    public func account(matching policy: AccountPolicy) throws -> Account? {
        let (outcome, fitting) = try outcome(of: policy)
        switch outcome {
        case .account(let account): return account
        case .none: return nil
        case .ambiguous(let accounts): throw TokenStoreError.ambiguousAccount(accounts, total: fitting)
        }
    }

    /// What `policy` selects, and how many accounts fit; `select(_:)` says why, and looks at every account for it.
    package func outcome(of policy: AccountPolicy) throws -> (outcome: AccountSelection.Outcome, fitting: Int) {
        try read { session in try session.connection.read { try session.outcome(of: policy) } }
    }

    /// The one account with a username, compared without regard to case.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if it is blank, ``TokenStoreError/Code/ambiguousAccount`` if
    ///   several accounts have it.
    public func account(username: String) throws -> Account? {
        guard !username.folded.isEmpty else {
            throw TokenStoreError.invalidArgument("the username is blank", .nameAccount([]))
        }
        return try account(matching: .username(username))
    }

    /// The ID tokens of an account, newest first; with a client, only those issued to it.
    public func idTokens(of account: Account.ID, client: String? = nil) throws -> [StoredIDToken] {
        try read { session in
            try session.connection.read {
                guard let row = try session.accountRow(account) else { return [] }
                return try session.idTokens(row, client: client)
            }
        }
    }

    /// The tenants whose ID tokens of an account are stored and cannot be decoded, such as encrypted ones.
    package func tenantsOfUnreadableIDTokens(of account: Account.ID) throws -> [String] {
        try read { session in
            try session.connection.read {
                try session.accountRow(account).map { try session.tenantsOfUnreadableIDTokens($0) } ?? []
            }
        }
    }

    /// The newest ID token of an account from an authority; nil: from the tenant that the account is at home in.
    ///
    /// At an issuer that has no tenants, and of a user flow, it is the newest of all; none is from an authority that is
    /// not the account's.
    package func idToken(
        of account: Account.ID,
        client: String,
        from authority: Authority?
    ) throws -> StoredIDToken? {
        guard authority?.vouches(for: account) ?? true else { return nil }
        var query = TokenQuery(account: account, clientID: client, scope: Scope([]))
        query.authority = authority
        return try read { session in
            try session.connection.read {
                guard let row = try session.accountRow(account) else { return nil }
                if let userFlow = authority?.userFlow { try session.requireUserFlow(userFlow, of: account) }
                let isOfUserFlow = try session.account(row)?.userFlow != nil
                if isOfUserFlow, let authority, authority.userFlow == nil { return nil }
                let tenant = try isOfUserFlow ? nil : session.tenant(query)
                return try session.idTokens(row, client: client).first { tenant == nil || $0.tenantID == tenant }
            }
        }
    }

    /// The account of an id, such as one that an app remembers; nil where it is not stored.
    ///
    /// Unlike ``AccountPolicy/homeAccountID(_:)`` it takes no account whose id differs in case, where that counts.
    public func account(_ id: Account.ID) throws -> Account? {
        try read { session in
            try session.connection.read { try session.accountRow(id).flatMap { try session.account($0) } }
        }
    }

    /// The sign-in state of an account at a client.
    public func signInState(of account: Account.ID, client: String) throws -> SignInState {
        try read { session in try session.signInState(of: account, client: client) }
    }
}

/// Whether an account is signed in to a client.
public enum SignInState: String, Sendable {
    case signedIn
    case signedOut
    case unknown

    /// The word that MSAL's account metadata uses.
    var stored: String {
        switch self {
        case .signedIn: "signed_in"
        case .signedOut: "signed_out"
        case .unknown: "unknown"
        }
    }

    init?(stored: String) {
        switch stored {
        case "signed_in": self = .signedIn
        case "signed_out": self = .signedOut
        case "unknown": self = .unknown
        default: return nil
        }
    }
}

extension StoreConnection {
    /// The accounts of rows, in their order; a server is asked for many of them in one round trip.
    fileprivate func accounts(ofRows rows: [Int64]) throws -> [Account] {
        try rows.pages.flatMap { page in
            for row in page { try askAheadForAccount(row) }
            return try page.compactMap { try account($0) }
        }
    }
}
