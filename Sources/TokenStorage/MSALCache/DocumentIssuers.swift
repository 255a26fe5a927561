import OAuth

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
