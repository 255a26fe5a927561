import OAuth

/// Which account and tenant an entry is of.
extension MSALCacheImporter {
    /// The row of the account an entry belongs to, made if there is none; `issuer` is what the entry names it by.
    func accountRow(
        _ homeAccountID: String,
        _ environment: String,
        realm: String?,
        client: String?,
        issuer: String?,
        claims: Claims?
    ) throws -> Int64 {
        guard !homeAccountID.hasControlCharacters else {
            throw MSALRejection("its home_account_id has control characters")
        }
        if claims == nil, issuer == nil,
            let row = try accounts.row(
                homeAccountID: homeAccountID,
                environment: environment,
                realm: realm,
                client: client
            )
        {
            return row
        }
        let known =
            try issuer != nil || claims != nil
            ? issuer : places.authority(homeAccountID: homeAccountID, environment: environment)
        let identity = AccountIdentity(
            homeAccountID: homeAccountID,
            environment: environment,
            claims: claims,
            knownAuthority: known
        )
        if let flaw = identity.issuer.keyFlaw { throw MSALRejection("its issuer \(flaw)") }
        let count = session.newAccounts.count
        defer { if session.newAccounts.count > count { places.add(identity) } }
        return try session.describeAccount(
            identity,
            AccountProfile(
                username: claims?.username ?? "",
                policy: identity.userFlowOfUID ?? claims?.addressableUserFlow
                    ?? claims?.issuer.flatMap(Self.policy(in:))
                    ?? ClientInfo.userFlow(behind: claims?.userID, in: homeAccountID),
                issuer: claims.flatMap(Self.issuer(of:)),
                name: claims?.name
            )
        )
    }

    /// The environment of an account that the store had, for an entry of it that names the host alone; else the one that
    /// the entry names.
    ///
    /// Tokens and profiles are told apart by it: at two ports of a host one id may be of two accounts, and only an ID
    /// token told which it is. Those that the store has would be there twice.
    mutating func environment(_ named: String, of account: Int64) throws -> String {
        guard !session.newAccounts.contains(account), !Cloud.contains(named), try hasAccountsAtPorts() else {
            return named
        }
        let stored = try environments[account] ?? session.environment(ofAccount: account) ?? named
        environments[account] = stored
        return HostAndPort(stored, usualPort: 443)?.urlHost == named ? stored : named
    }

    /// Whether an account of the store is at a port, as hardly any is.
    private mutating func hasAccountsAtPorts() throws -> Bool {
        if let found = areAccountsAtPorts { return found }
        let found = try session.hasAccountsAtPorts()
        areAccountsAtPorts = found
        return found
    }

    /// How old the document is beside the store in what it has of an account and a client: by their ID tokens, of
    /// several tenants by the one that was asked last, else by their access tokens; nil where nothing tells.
    func age(of account: Int64, client: String) -> ImportedAge? {
        let client = client.folded
        return issues[account]?.clients[client]?.newest?.age ?? ages[account]?[client] ?? times[account]?[client]?.age
    }

    /// The same of what it calls an account in a tenant, which has no time of its own: by the ID tokens of the tenant,
    /// else of all, whatever client and host of the cloud they are of, as the names are those of all clients.
    func age(of account: Int64, tenant: String) -> ImportedAge? {
        let issues = issues[account]?.ofAllClients
        if let time = issues?.tenants[tenant] { return time.age }
        if let age = issues?.newest?.age { return age }
        let found = ages[account]?.values.map(\.self) ?? []
        return found.contains(.newer) ? .newer : found.contains(.older) ? .older : nil
    }

    /// The clients, folded, of whose tokens the document has older ones than the store had, and none that are newer.
    func clientsOfOlderTokens() -> Set<String> {
        var found: [String: Set<ImportedAge>] = [:]
        func add(_ age: ImportedAge?, _ client: String) {
            if let age { found[client, default: []].insert(age) }
        }
        for known in ages.values {
            for (client, age) in known { add(age, client) }
        }
        for known in times.values {
            for (client, time) in known { add(time.age, client) }
        }
        for known in issues.values {
            for (client, issues) in known.clients { add(issues.newest?.age, client) }
        }
        return Set(found.filter { $0.value == [.older] }.keys)
    }

    /// The tenant that a realm means: words such as `common` mean the tenant the account is at home in, and a domain
    /// the one that the account's ID token names.
    func resolve(_ realm: String, _ homeAccountID: String) throws -> String {
        if Authority.isTenantless(realm), let home = ClientInfo.tenant(of: homeAccountID) { return home.folded }
        return try domains.tenant(realm, of: homeAccountID) ?? realm.folded
    }

    /// Whether a tenant, as ``resolve(_:_:)`` gives it, is the one that the account is at home in.
    func isHomeTenant(_ tenant: String, _ homeAccountID: String, at environment: String) throws -> Bool {
        try !Cloud.hasTenants(environment) || tenant == resolve("", homeAccountID)
    }

    /// The user flow that an issuer has in its path.
    private static func policy(in issuer: String) -> String? {
        issuer.parts(separatedBy: "/").map { $0.lowercased() }.first { $0.hasPrefix("b2c_1") }
    }

    /// The issuer of an ID token; a text that is no address could be taken for the name of another one.
    static func issuer(of claims: Claims) -> String? {
        claims.issuer.flatMap { WebAddress($0) == nil || $0.keyFlaw != nil ? nil : $0 }
    }
}
