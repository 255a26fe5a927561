/// A sign-in identity at one authority.
///
/// For Azure AD B2C every user flow is a separate account: the flow is part of the home account id.
public struct Account: Hashable, Sendable, Identifiable {
    /// What identifies an account: who vouches for it, and the name it has there.
    ///
    /// An app that remembers an account keeps this. It is encoded as its two members, in later versions too.
    public struct ID: Codable, Sendable {
        /// The group of hosts that share accounts (Microsoft), or the exact issuer (any other OpenID provider); a host
        /// where an import did not tell the issuer.
        public let issuer: String

        /// `uid.utid` of `client_info`, else the `sub` claim; the case of letters counts in a subject, and not in
        /// Microsoft's ids.
        public let homeAccountID: String

        /// The id of an account at an issuer: `issuer` is an authority or a host, `homeAccountID` what the issuer calls
        /// the account.
        public init(issuer: String, homeAccountID: String) {
            self.issuer = issuer
            self.homeAccountID = homeAccountID
        }
    }

    /// What tells the account from all others.
    public let id: ID

    /// The host that signed the account in, with its port unless that is 443.
    public let environment: String

    /// The `iss` claim of the newest ID token; an import does not change one that is known.
    public let issuer: String?

    /// The name to show, such as an e-mail address; it may change, be empty, and two accounts may share it.
    public let username: String

    /// The person's name, where an ID token or an imported row gave one.
    public let name: String?

    /// The Azure AD B2C user flow, lower-cased.
    public let userFlow: String?

    /// The two parts of a Microsoft home account id: the user in the home tenant, and the home tenant.
    public let uid: String?

    /// The account's home tenant in Microsoft's clouds; nil elsewhere.
    public let utid: String?

    /// The tenants the account has been seen in.
    public let tenantProfiles: [TenantProfile]

    /// An account that is not from a store, for previews and tests; its other properties are nil or empty.
    ///
    /// Its ``issuer`` is that of the id, where that has one.
    public init(id: ID, environment: String, username: String, name: String? = nil) {
        self.init(
            id: id,
            environment: environment,
            issuer: id.hasIssuer ? id.issuer : nil,
            username: username,
            name: name,
            userFlow: nil,
            uid: nil,
            utid: nil,
            tenantProfiles: []
        )
    }

    package init(
        id: ID,
        environment: String,
        issuer: String?,
        username: String,
        name: String?,
        userFlow: String?,
        uid: String?,
        utid: String?,
        tenantProfiles: [TenantProfile]
    ) {
        self.id = id
        self.environment = environment
        self.issuer = issuer
        self.username = username
        self.name = name
        self.userFlow = userFlow
        self.uid = uid
        self.utid = utid
        self.tenantProfiles = tenantProfiles
    }
}

extension Account {
    /// The name to fill in at the issuer; nil where there is none, or only the person's own name, which no issuer takes
    /// for a sign-in.
    package var loginHint: String? {
        let isOwnName = username.contains(where: \.isWhitespace) && !username.contains("@")
        return username.isEmpty || isOwnName ? nil : username
    }
}

// MARK: - Identity

extension Account.ID: Hashable {
    /// Two ids are equal exactly when they are one row of a store, which compares the same `key` byte by byte.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.issuer.hasSameBytes(as: rhs.issuer) else { return false }
        return lhs.homeAccountID.hasSameBytes(as: rhs.homeAccountID) || lhs.key.hasSameBytes(as: rhs.key)
    }

    public func hash(into hasher: inout Hasher) {
        for var text in [issuer, key] { text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) } }
    }
}

extension Account.ID {
    /// What stands between the parts of a `key`.
    package static let separator = "\u{1F}"

    /// What two ids of one authority are compared by, in memory and in a store.
    ///
    /// Two ids of Microsoft always differ by more than case. Subjects of other issuers may differ by case only
    /// (OpenID Connect Core §2), so the key is the folded id and then the exact one: an id that a person types is found
    /// by the first.
    package var key: String {
        let folded = homeAccountID.folded
        guard !folded.hasSameBytes(as: homeAccountID), !isMicrosofts else { return folded }
        return folded + Self.separator + homeAccountID
    }

    /// The keys that an id may have whose authority is not known.
    package static func keys(of homeAccountID: String) -> [String] {
        [homeAccountID.folded, homeAccountID.folded + separator + homeAccountID]
    }

    /// The id of another account of the same authority, or of this one in other letter case.
    package func named(_ homeAccountID: String) -> Account.ID {
        Account.ID(issuer: issuer, homeAccountID: homeAccountID)
    }

    /// Whether the authority is an issuer; else it is a host, or the name of a group of hosts.
    package var hasIssuer: Bool { issuer.isIssuer }

    /// Whether the case of letters does not count in the id.
    ///
    /// At a host that is not known to be Microsoft's, such as a customer's domain, the shape of the id decides.
    private var isMicrosofts: Bool { !hasIssuer && (Cloud.contains(issuer) || ClientInfo.isShaped(homeAccountID)) }
}

/// Where an account belongs: which authority vouches for it, under which name.
///
/// Microsoft's ids are unique across its hosts, so a group of hosts is the authority. Any other provider's `sub` means
/// something only together with its exact issuer (OpenID Connect Core §2).
package struct AccountIdentity: Hashable, Sendable {
    /// The group of hosts that share accounts, or the exact issuer.
    package let issuer: String
    package private(set) var homeAccountID: String
    package let environment: String
    package private(set) var uid: String?
    package let utid: String?

    /// The user's id without the user flow behind it, where that is there only because it was asked.
    private var plainUser: String?

    package var id: Account.ID { Account.ID(issuer: issuer, homeAccountID: homeAccountID) }

    /// The account that the answer to `request` names; nil where it names none, or two.
    package init?(_ response: TokenResponse, to request: TokenRequest, claims: Claims?) {
        let clientInfo = ClientInfo(response, to: request, claims: claims)
        if let clientInfo, clientInfo.isContradicted(by: claims) { return nil }
        self.init(clientInfo, to: request, claims: claims)
    }

    /// The same for what its `client_info` says, where that counts and does not contradict the claims.
    package init?(_ clientInfo: ClientInfo?, to request: TokenRequest, claims: Claims?) {
        guard let homeAccountID = clientInfo?.homeAccountID ?? request.user(of: claims) else { return nil }
        self.homeAccountID = homeAccountID
        environment = request.authority.environment
        issuer = Self.authority(
            environment: environment,
            isClientInfo: clientInfo != nil,
            issuer: request.issuer(of: claims)
        )
        uid = clientInfo?.uid
        utid = clientInfo?.utid
        let user = clientInfo.map(\.sentUID) ?? claims?.userID
        plainUser = clientInfo == nil && user?.hasSameBytes(as: homeAccountID) == true ? nil : user
    }

    /// The same as an earlier version filed it, which left the user flow out; nil where that made no difference.
    package var withoutUserFlow: AccountIdentity? {
        guard let plainUser else { return nil }
        var plain = self
        plain.plainUser = nil
        plain.homeAccountID = utid.map { "\(plainUser).\($0)" } ?? plainUser
        if uid != nil { plain.uid = plainUser }
        return plain
    }

    /// The identity of an imported row, whose id is split at its last dot: a user part may hold dots, a tenant not.
    ///
    /// An id that is not the `sub` claim is one that a `client_info` gave.
    package init(homeAccountID: String, environment: String, claims: Claims?, knownAuthority: String?) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        let isMicrosofts = Cloud.contains(environment)
        let parts = ClientInfo.parts(of: homeAccountID)
        let isClientInfo =
            !isMicrosofts && ClientInfo.isShaped(homeAccountID) && claims?.subject?.folded != homeAccountID.folded
            && parts.map { ClientInfo.isBacked(utid: $0.utid, by: claims, at: environment) } ?? false
        issuer =
            claims == nil && !isMicrosofts && knownAuthority != nil
            ? knownAuthority ?? environment
            : Self.authority(environment: environment, isClientInfo: isClientInfo, issuer: claims?.issuer)
        let isSplit = isClientInfo || isMicrosofts
        uid = isSplit ? parts?.uid : nil
        utid = isSplit ? parts?.utid : nil
    }

    private static func authority(environment: String, isClientInfo: Bool, issuer: String?) -> String {
        if Cloud.contains(environment) { return Cloud.group(of: environment) }
        guard isClientInfo else {
            // An issuer is an address. Another text could be the name of a group of hosts.
            guard let issuer, issuer.isIssuer else { return environment.folded }
            return issuer
        }
        // MSAL for Python drops the port of a host, which its issuer still names.
        let host = issuer.flatMap { WebAddress($0)?.name } ?? environment.folded
        return host.hasPrefix(environment.folded + ":") ? host : environment.folded
    }

    /// The Azure AD B2C user flow behind the user's id, such as `b2c_1_signin` of `GUID-b2c_1_signin`.
    package var userFlowOfUID: String? { uid.flatMap(ClientInfo.userFlow(ofUID:)) }
}

extension String {
    /// Whether it is the address of an issuer; else it is a host, or the name of a group of hosts.
    package var isIssuer: Bool {
        // Over the bytes: a search through characters costs more than the rest of a lookup.
        var text = self
        return text.withUTF8 { bytes in
            bytes.indices.dropFirst(2).contains { index in
                bytes[index] == UInt8(ascii: "/") && bytes[index - 1] == UInt8(ascii: "/")
                    && bytes[index - 2] == UInt8(ascii: ":")
            }
        }
    }
}

extension TokenRequest {
    /// The id of the user whom claims name, with the user flow that was asked where neither it nor its issuer says so.
    fileprivate func user(of claims: Claims?) -> String? {
        guard let user = claims?.userID, let userFlow = authority.userFlow?.folded else { return claims?.userID }
        let parts = issuer(of: claims)?.parts(separatedBy: "/") ?? []
        let isNamed = parts.contains { $0.folded.hasSameBytes(as: userFlow) }
        return isNamed ? user : ClientInfo.name(of: user, at: userFlow) ?? user
    }

    /// The issuer of an ID token with these claims: the one that was asked, where they name none that is an address.
    ///
    /// Google leaves `https://` out for older clients, and means the same accounts (OpenID Connect Core §15.6.2).
    package func issuer(of claims: Claims?) -> String? {
        guard let named = claims?.issuer, named.isIssuer else {
            return authority.issuer ?? claims?.issuer
        }
        return named
    }
}

/// An account as one tenant knows it.
public struct TenantProfile: Hashable, Sendable {
    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// The account's id in this tenant: the `oid` claim, else `sub`.
    public let localAccountID: String?

    /// Whether this is the tenant the account belongs to.
    public let isHome: Bool

    package init(tenantID: String, localAccountID: String?, isHome: Bool) {
        self.tenantID = tenantID
        self.localAccountID = localAccountID
        self.isHome = isHome
    }
}
