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

// MARK: - Issuers that tell where accounts belong

/// The issuers that the ID tokens of a document name, by the host and the id of their accounts.
///
/// A reference, and read at the first question: few documents identify an account that another one has left open.
final class DocumentIssuers {
    private struct Name: Hashable {
        /// Without a port, which some libraries leave out.
        let host: String
        let homeAccountID: String

        init?(_ homeAccountID: String, at environment: String) {
            guard let host = HostAndPort(environment, usualPort: 443)?.host else { return nil }
            self.host = host
            self.homeAccountID = homeAccountID.folded
        }
    }

    private let document: MSALCacheDocument
    private var known: [Name: Set<String>]?

    init(_ document: MSALCacheDocument) { self.document = document }

    func issuers(of homeAccountID: String, at environment: String) throws -> Set<String> {
        let issuers = try known ?? read()
        known = issuers
        return Name(homeAccountID, at: environment).flatMap { issuers[$0] } ?? []
    }

    private func read() throws -> [Name: Set<String>] {
        var issuers: [Name: Set<String>] = [:]
        for bucket in document.buckets where bucket.name == MSALBucket.idToken.rawValue {
            for entry in bucket.entries ?? [] {
                var reader = JSONReader(document.bytes, from: entry.offset, mends: true)
                guard let token = try reader.value().bracketingAddress.object,
                    let environment = token["environment"]?.text, !Cloud.contains(environment),
                    let name = token["home_account_id"]?.text.flatMap({ Name($0, at: environment) }),
                    let secret = token["secret"]?.text,
                    let issuer = token[NamedIssuers.member]?.text
                        ?? (try? IDToken(decoding: Secret(secret)))?.claims.issuer
                else { continue }
                issuers[name, default: []].insert(issuer)
            }
        }
        return issuers
    }
}

extension MSALCacheImporter {
    /// Moves the account that another document has named by its host alone to the issuer that an ID token tells.
    ///
    /// Only where nothing speaks for another account: it is the only one with its id at the host, the document has no
    /// other issuer for that, the issuer is at the very host and port, and the tenant is one that the account was in.
    func moveAccount(to identity: AccountIdentity, _ profile: AccountProfile, realm: String) throws {
        let (id, environment) = (identity.homeAccountID, identity.environment)
        let host = environment.folded
        guard let issuer = WebAddress(secure: identity.issuer), let place = HostAndPort(environment, usualPort: 443),
            issuer.host == place.host, issuer.port == place.port, try session.accountRow(identity.id) == nil,
            let row = try session.accountRow(Account.ID(issuer: host, homeAccountID: id)),
            try places.authority(homeAccountID: id, environment: environment) == host,
            try issuers?.issuers(of: id, at: environment) == [identity.issuer]
        else { return }
        let realms = try session.realms(ofAccount: row)
        guard try realm.isEmpty || realms.isEmpty || realms.contains(resolve(realm, id)),
            try session.moveAccount(row, to: identity, profile)
        else { return }
        places.move(identity, from: host)
    }
}
