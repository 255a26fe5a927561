public import OAuth
import OpenIDConnect
public import TokenManagement

/// What a public client is registered as, and whom it trusts (MSAL's `MSALPublicClientApplicationConfig`).
public struct PublicClientConfiguration: Sendable {
    /// The client's id, as the issuer registered it.
    public let clientID: String

    /// Where the issuer sends the browser after a sign-in.
    public let redirectURI: RedirectURI

    /// Where people sign in unless a request says otherwise.
    public let authority: Authority

    /// The other authorities that may be used; list every user flow of Azure AD B2C here.
    public var knownAuthorities: [Authority] = []

    /// How tokens are handed out and refreshed: the buffer before their end, extended lifetime, client capabilities.
    public var tokenOptions = TokenManagerOptions()

    /// A client as it is registered at an issuer.
    ///
    /// - Throws: ``SignInError/Code/invalidRequest`` if the client id is empty, or has a space or a character that is
    ///   not ASCII.
    public init(clientID: String, redirectURI: RedirectURI, authority: Authority) throws(SignInError) {
        guard !clientID.isEmpty, clientID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidRequest(
                "the client id is empty, or has a space or a character that is not ASCII",
                .correct("use the one that the app is registered with")
            )
        }
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.authority = authority
    }

    /// The same from texts, as a configuration file has them.
    ///
    /// - Throws: ``SignInError``, with the reason.
    public init(clientID: String, redirectURI: String, authority: String) throws(SignInError) {
        let place: Authority
        do {
            place = try Authority(parsing: authority)
        } catch {
            throw .invalidRequest(error)
        }
        try self.init(clientID: clientID, redirectURI: try RedirectURI(redirectURI), authority: place)
    }

    /// The authority where it is one tenant of a cloud that has many: its tokens are then those that are meant.
    var tenant: Authority? {
        let isTenant = authority.kind == .tenant && Cloud.hasTenants(authority.environment)
        return isTenant && !authority.isTenantless ? authority : nil
    }

    /// Where an account signs in again: the authority of its user flow that the application knows, else its own.
    package func authority(for account: Account) throws -> Authority {
        // Another tenant of a cloud may be known for other accounts.
        let known = [authority] + knownAuthorities.filter { $0.kind == .userFlow }
        let own = known.first { authority in
            authority.userFlow == account.userFlow && (authority.issuer != nil || !authority.isTenantless)
                && authority.vouches(for: account.id)
        }
        return try own ?? Authority(of: account, requested: nil)
    }

    /// `authority`, or the application's own, if it is one that the application was told to trust.
    ///
    /// Of two names of one tenant, its id and a domain, it is the one that the application was told.
    ///
    /// - Throws: ``SignInError/Code/unknownAuthority``, ``SignInError/Code/invalidRequest`` for one of another kind.
    func checked(_ authority: Authority?) throws(SignInError) -> Authority {
        guard let authority, authority != self.authority else { return self.authority }
        guard authority.kind == self.authority.kind else {
            throw .invalidRequest(
                "\(authority.url) is another kind of authority than the application's",
                .correct("use a tenant, a user flow or an OpenID issuer, as the application's own authority is")
            )
        }
        if knownAuthorities.contains(authority) { return authority }
        if let known = ([self.authority] + knownAuthorities).first(where: authority.isOneTenant(with:)) { return known }
        // Microsoft's own clouds are known to us, user flows are a tenant's.
        guard authority.kind == .tenant, Cloud.contains(authority.environment) else {
            throw .unknownAuthority(authority.url)
        }
        return authority
    }
}

extension Authority {
    fileprivate enum Kind {
        case tenant
        case userFlow
        case openIDProvider
    }

    fileprivate var kind: Kind { issuer != nil ? .openIDProvider : userFlow != nil ? .userFlow : .tenant }

    /// Whether the two differ in no more than that one has the tenant's id where the other has a domain, at a host that
    /// has one tenant.
    fileprivate func isOneTenant(with other: Authority) -> Bool {
        guard let tenant, let otherTenant = other.tenant, !Cloud.hasTenants(environment), !isTenantless,
            !other.isTenantless, replacing(tenant: otherTenant) == other
        else { return false }
        return ClientInfo.isTenantID(tenant) != ClientInfo.isTenantID(otherTenant)
    }
}
