package import OAuth

/// Who a token response is about: what its `client_info` and its ID token say, with the request behind them.
struct ResponseIdentity {
    /// nil for a token of the client itself.
    private(set) var account: AccountIdentity?
    let clientInfo: ClientInfo?
    let idToken: IDToken?

    /// The tenant that the response itself names.
    let namedTenant: String?

    /// The tenant the tokens are good in: never a word such as `common`.
    let realm: String

    /// The user flow that the session belongs to.
    let userFlow: String?

    /// Who issued the ID token; Google leaves the scheme out for older clients, and an issuer is an address.
    private let issuer: String?

    /// - Throws: `IDTokenError` if the response has an ID token that cannot be decoded, ``MismatchedAccount`` if that
    ///   and the `client_info` name two users or the account is of another user flow than was asked, ``UnfitText`` if a
    ///   name by which rows are found cannot be stored, ``TokenStoreError/Code/invalidArgument`` if a session came from
    ///   an OpenID provider that names no user.
    init(_ response: TokenResponse, request: TokenRequest) throws {
        let idToken = try response.idToken.map { secret throws(IDTokenError) in try IDToken(decoding: secret) }
        let clientInfo = ClientInfo(response, to: request, claims: idToken?.claims)
        if let clientInfo, clientInfo.isContradicted(by: idToken?.claims) { throw MismatchedAccount() }
        account = AccountIdentity(clientInfo, to: request, claims: idToken?.claims)
        // Each user flow has accounts of its own, and a sign-in is of the one that was asked. A refresh may have rotated
        // the token: its answer is refused only where the ID token is of the flow that was asked.
        if let asked = request.authority.userFlow?.folded, let named = account?.userFlowOfUID, named != asked,
            request.grant != .refreshToken || idToken?.claims.addressableUserFlow == asked
        {
            throw MismatchedAccount()
        }
        // Microsoft's answers name the user always; what names none is a token of the client itself.
        let isOfSession = response.refreshToken != nil && ![.refreshToken, .clientCredentials].contains(request.grant)
        if account == nil, isOfSession, request.authority.issuer != nil {
            throw TokenStoreError.invalidArgument(
                "the answer has a refresh token and names no account: there is no ID token in it",
                .correct("ask for the scope openid")
            )
        }
        self.idToken = idToken
        self.clientInfo = clientInfo
        issuer = idToken?.claims.issuer.map { WebAddress($0) == nil ? request.authority.issuer ?? $0 : $0 }
        let tenant = request.authority.isTenantless ? nil : request.authority.tenant
        userFlow = Self.userFlow(of: account, idToken?.claims, request.authority)
        let named = idToken?.claims.tenantID ?? clientInfo?.utid
        // In a refresh one that no row can have says nothing: a refresh token that was rotated is nowhere else.
        namedTenant = request.grant == .refreshToken && named?.keyFlaw != nil ? nil : named
        realm =
            namedTenant ?? tenant
            ?? request.authority.issuer.map(Self.firstPathSegment) ?? ""
        if account?.homeAccountID.isEmpty == true, request.grant != .refreshToken {
            throw UnfitText("id of the user", "is empty")
        }
        try Self.requireFit(account?.homeAccountID, "id of the user")
        try Self.requireFit(account?.issuer, "issuer")
        try Self.requireFit(realm, "tenant")
        try Self.requireFit(request.clientID, "client id")
        try Self.requireFit(request.authority.environment, "host of the authority")
    }

    /// The user flow that was asked: refresh tokens go where they come from, whatever an ID token says.
    ///
    /// Where none was asked for by name, a Microsoft tenant has none.
    private static func userFlow(of account: AccountIdentity?, _ claims: Claims?, _ authority: Authority) -> String? {
        if let asked = authority.userFlow { return asked.folded }
        if let named = account?.userFlowOfUID { return named }
        let isTenant = Cloud.contains(authority.environment) || Cloud.isExternalID(authority.environment)
        return isTenant ? nil : claims?.addressableUserFlow
    }

    private static func requireFit(_ key: String?, _ name: String) throws(UnfitText) {
        if let flaw = key?.keyFlaw { throw UnfitText(name, flaw) }
    }

    var claims: Claims? { idToken?.claims }

    /// What the account row is to say.
    func storedAccount(typed username: String?) -> AccountProfile {
        AccountProfile(
            username: claims?.username ?? username ?? "",
            policy: userFlow,
            issuer: issuer,
            name: claims?.name
        )
    }

    /// What the account row is to say where the issuer tells the user's name elsewhere than in the ID token.
    func account(namedBy further: Claims) -> AccountProfile {
        let username = further.username.flatMap { $0.keyFlaw == nil ? $0 : nil } ?? ""
        return AccountProfile(username: username, policy: userFlow, issuer: issuer, name: further.name)
    }

    /// What the account row is to say after a refresh.
    ///
    /// Its ID token may have fewer claims than that of the sign-in. The claims that serve where there is no username,
    /// such as `email`, do not rename the account.
    var renewedAccount: AccountProfile {
        let username = ["preferred_username", "upn"].lazy.compactMap { claims?.payload[$0]?.text }.first { !$0.isEmpty }
        return AccountProfile(
            username: username ?? "",
            policy: userFlow,
            issuer: issuer,
            name: claims?.name
        )
    }

    /// What the profile row is to say, by the ID token and by `further` claims.
    func tenantProfile(
        account: AccountProfile,
        environment: String,
        grant: Grant,
        further: Claims? = nil
    ) -> TenantProfileRow {
        var extra = JSONValue.Object()
        for name in ["name", "given_name", "middle_name", "family_name"] {
            let value = claims?.payload[name]?.text ?? further?.payload[name]?.text
            // An import takes no entry that has one in a text, of an export neither.
            if let value, !value.utf8.contains(0) { extra[name] = .string(value) }
        }
        if let clientInfo { extra["client_info"] = .string(clientInfo.rawValue) }
        if grant != .refreshToken { extra["account_source"] = .string(grant.rawValue) }
        return TenantProfileRow(
            environment: environment,
            realm: realm,
            realmFold: realm.folded,
            localAccountID: claims?.localAccountID.flatMap { $0.keyFlaw == nil ? $0 : nil },
            username: account.username,
            authorityType: realm.folded == "adfs" ? "ADFS" : "MSSTS",
            extra: extra
        )
    }

    /// What MSAL calls the tenant of a provider that has none.
    private static func firstPathSegment(_ issuer: String) -> String {
        let segments = issuer.parts(separatedBy: "/")
        return segments.count > 2 ? segments[2] : ""
    }
}

extension StoreConnection {
    /// The identity with the account as it is filed: an earlier version left its user flow out of the id.
    func filed(_ identity: ResponseIdentity) throws -> ResponseIdentity {
        guard let named = identity.account, let plain = named.withoutUserFlow, try accountRow(named.id) == nil,
            let row = try accountRow(plain.id), let known = try intact({ try account(row) }) ?? nil,
            known.userFlow ?? identity.userFlow == identity.userFlow
        else { return identity }
        return identity.naming(plain)
    }
}

extension ResponseIdentity {
    fileprivate func naming(_ account: AccountIdentity) -> ResponseIdentity {
        var identity = self
        identity.account = account
        return identity
    }
}

extension TokenResponse {
    /// Makes sure that a store can take the answer to a sign-in: the tokens of one that none takes, at no time, are to
    /// be revoked.
    ///
    /// - Throws: ``TokenStoreError``, as to save it would, but without the tokens.
    package func requireStorable(for request: TokenRequest) throws {
        do {
            _ = try ResponseIdentity(self, request: request)
        } catch is MismatchedAccount {
            throw TokenStoreError.otherAccount(nil)
        } catch let error as UnfitText {
            throw TokenStoreError.notStored(nil, because: error.refusal)
        }
    }
}
