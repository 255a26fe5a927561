import OAuth

/// Which accounts of a store an export names the issuer of: those at one host that have the same id.
///
/// A cache names an account by id and host alone, and what it calls a tenant is the first part of an issuer's path. So
/// two issuers such as `https://host/realms/a` and `https://host/realms/b` look alike, and a refresh token names no
/// tenant at all. MSAL's libraries pass over members that they do not know.
struct NamedIssuers {
    /// The member of an entry that names the issuer of its account.
    static let member = "account_issuer"

    private let accounts: Set<Account.ID>

    init(_ session: StoreConnection) throws { accounts = Set(try session.accountsThatShareIDs()) }

    /// An entry with the issuer of its account, where nothing else tells.
    func naming(_ account: Account.ID?, in entity: JSONValue) -> JSONValue {
        guard !accounts.isEmpty, let account, accounts.contains(account), var object = entity.object else {
            return entity
        }
        object[Self.member] = .string(account.issuer)
        return .object(object)
    }
}

extension MSALEntity {
    /// Takes the issuer of its account, as an export names it; one of Microsoft's has none.
    mutating func accountIssuer(at environment: String) -> String? {
        guard !Cloud.contains(environment), let name = rest[NamedIssuers.member]?.text, name.keyFlaw == nil,
            let host = HostAndPort(environment, usualPort: 443)?.host
        else { return nil }
        // Another text could be the name of a group of hosts.
        guard name.isIssuer || HostAndPort(name, usualPort: 443)?.host == host else { return nil }
        return text(NamedIssuers.member)
    }
}
