import Database
import OAuth

extension StoreConnection {
    /// Stores the response of a sign-in, or of a request for the client's own token, in the transaction that is open;
    /// who it is about may be known already.
    func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        of known: ResponseIdentity? = nil
    ) throws -> SavedTokens {
        let identity = try filed(known ?? ResponseIdentity(response, request: request))
        var row: Int64?
        if let account = identity.account {
            let stored = identity.storedAccount(typed: request.username)
            let isHome = account.utid.map { $0.folded == identity.realm.folded } ?? true
            let (id, isNew) = try saveAccount(account, stored, isHome: isHome) { row in
                try askAhead(about: identity, in: row, response, request)
            }
            let profile = identity.tenantProfile(
                account: stored,
                environment: request.authority.environment,
                grant: request.grant
            )
            try saveTenantProfile(profile, account: id, from: .signIn)
            let granted = response.scope ?? request.scope
            if response.refreshToken == nil, !isNew {
                try keepRefreshTokens(whenGranted: granted, account: id, id: account.id, client: request.clientID)
            }
            try saveIDToken(of: identity, in: Realm(identity.realm), request: request, account: id)
            try learnTenant(identity.realm, of: request, account: account.id, row: id, isNew: isNew)
            if !isNew || request.newKey != nil {
                let bringsRefreshToken = response.refreshToken != nil
                try bind(id, client: request.clientID, to: request.newKey, bringsRefreshToken: bringsRefreshToken)
            }
            if let secret = response.refreshToken {
                var token = refreshToken(secret, response: response, request: request, client: request.clientID)
                token.target = granted.sortedText
                // Microsoft's answers name the scope of one API only.
                if request.authority.issuer != nil { token.declinedScope = request.scope.missing(from: granted) }
                try replaceRefreshToken(with: token, account: id)
            }
            if !isNew { try liftThrottles(account: id, client: request.clientID) }
            try setSignInState(.signedIn, of: id, client: request.clientID, isNew: true)
            try record(.signIn, account: account.id, client: request.clientID, refreshToken: response.refreshToken)
            row = id
        }
        try saveFamily(of: response, request: request)
        return try saveAccessToken(
            response,
            request: request,
            realm: Realm(identity.realm),
            account: row,
            id: identity.account?.id
        )
    }

    /// Stores the answer to a refresh with `used`, in the transaction that is open.
    ///
    /// The answer belongs to the account it was asked for, also where it names none. A refresh token that another
    /// process has stored meanwhile is newer than the one in the answer, and stays.
    func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: StoredRefreshToken
    ) throws -> SavedTokens {
        var response = response
        // A client that gets an answer for another one's token is of the family, also where the answer does not say so.
        if request.clientID.folded != used.clientID.folded { response.familyID = response.familyID ?? used.familyID }
        try askAhead(about: used, response, request)
        let isSignedOut = try signInState(of: used.account, client: request.clientID) == .signedOut
        guard !isSignedOut, let account = try accountRow(used.account) else {
            return outcome(.discarded, response, request, used.account, accessToken: nil)
        }
        let identity = try ResponseIdentity(response, request: request)
        guard try isAbout(used.account, row: account, identity) else { throw MismatchedAccount() }
        let isNewest = try rotate(used, with: response, for: request, account: account)
        if try (!isNewest || response.refreshToken == nil) && isOfEarlierSession(used) {
            return outcome(.discarded, response, request, used.account, accessToken: nil)
        }
        try deleteAttempt(used)
        try liftThrottles(account: account, client: request.clientID)
        let tenant = try identity.namedTenant ?? refreshedTenant(request, account: used.account, row: account)
        let realm = try realm(tenant, of: account, environment: request.authority.environment)
        try saveIDToken(of: identity, in: realm, request: request, account: account)
        try learnTenant(tenant, of: request, account: used.account, row: account)
        try describe(account, by: identity, in: realm, request)
        try saveFamily(of: response, request: request)
        try record(.refresh, account: used.account, client: request.clientID, refreshToken: response.refreshToken)
        let saved = try saveAccessToken(
            response,
            request: request,
            realm: realm,
            account: account,
            id: used.account,
            sessionScope: request.authority.issuer != nil ? used.scope : nil
        )
        guard !isNewest else { return saved }
        return outcome(
            .storedBesideNewerRefreshToken,
            response,
            request,
            used.account,
            accessToken: saved.accessToken
        )
    }

    /// Whether the person has signed in anew since the token was stored: what is there now is of another session, and
    /// newer than the answer.
    private func isOfEarlierSession(_ used: StoredRefreshToken) throws -> Bool {
        guard try !isReplaceable(used) else { return false }
        if try hasSignedIn(sinceSending: used) { return true }
        guard let stored = used.modifiedAt?.unixSeconds,
            let times = try sessionTimes(of: used.account, client: used.clientID)
        else { return false }
        return times.signIn > stored
    }

    /// Puts the refresh token of an answer, where it has one, in the place of `used`; false where a newer one is there.
    private func rotate(
        _ used: StoredRefreshToken,
        with response: TokenResponse,
        for request: TokenRequest,
        account: Int64
    ) throws -> Bool {
        guard let secret = response.refreshToken else { return true }
        guard try isReplaceable(used) else { return false }
        var token = refreshToken(secret, response: response, request: request, client: used.clientID)
        token.target = successorTarget(of: used, response, request)
        try rotateRefreshToken(used.rowID, to: token, account: account)
        return true
    }

    /// Whether a refresh was answered for the account it was asked for; an answer that names no account was.
    func isAbout(_ account: Account.ID, row: Int64, _ identity: ResponseIdentity) throws -> Bool {
        guard let named = identity.account, account.named(named.homeAccountID) != account else { return true }
        if let plain = named.withoutUserFlow, account.named(plain.homeAccountID) == account { return true }
        if let info = identity.clientInfo, let known = ClientInfo.parts(of: account.homeAccountID),
            info.utid.folded == known.utid.folded
        {
            // MSAL for Java has a longer id for an account of a user flow than the issuer.
            if info.uid.folded == known.uid.folded { return true }
            // An earlier version took a user flow alone for the user.
            if ClientInfo.isUserFlowAlone(known.uid), info.uid.folded.hasSuffix(known.uid.folded),
                let local = identity.claims?.localAccountID
            {
                return try hasLocalAccount(local, account: row)
            }
        }
        // An earlier version took whatever `sub` said.
        if let subject = identity.claims?.subject, account.named(subject) == account { return true }
        // Without client_info the answer names the user by other claims than the id was made of.
        let isSubject = account.hasIssuer && !ClientInfo.isShaped(account.homeAccountID)
        guard !isSubject, identity.clientInfo == nil, let local = identity.claims?.localAccountID else { return false }
        return try hasLocalAccount(local, account: row)
    }

    private func saveIDToken(
        of identity: ResponseIdentity,
        in realm: Realm,
        request: TokenRequest,
        account: Int64
    ) throws {
        guard let idToken = identity.idToken else { return }
        let token = IDTokenRow(
            clientID: request.clientID,
            environment: request.authority.environment,
            realm: realm.name,
            realmFold: realm.fold,
            secret: idToken.secret
        )
        _ = try saveIDToken(token, claims: idToken.claims, account: account)
    }

    /// Gives an account the names of a refresh's ID token, which may be others than those of the sign-in.
    private func describe(
        _ row: Int64,
        by identity: ResponseIdentity,
        in realm: Realm,
        _ request: TokenRequest
    ) throws {
        guard identity.idToken != nil else { return try touchAccount(row) }
        let named = identity.renewedAccount
        try renameAccount(row, named, tenant: realm.fold)
        var profile = identity.tenantProfile(
            account: named,
            environment: request.authority.environment,
            grant: request.grant
        )
        (profile.realm, profile.realmFold) = (realm.name, realm.fold)
        try saveTenantProfile(profile, account: row, from: .refresh)
    }

    private func refreshToken(
        _ secret: Secret,
        response: TokenResponse,
        request: TokenRequest,
        client: String
    ) -> RefreshTokenRow {
        var token = RefreshTokenRow(
            clientID: client,
            familyID: response.familyID,
            environment: request.authority.environment,
            modifiedAt: now,
            secret: secret
        )
        token.resource = request.resource
        return token
    }

    /// The scope of a refreshed token; nil: that of the token before it.
    ///
    /// It is what a request without a `scope` gets. An issuer may grant less than before, and then the new token is
    /// worth less for good. One that grants more to a request that named more may give that alone: the next request
    /// without a `scope` gets what the person signed in for (RFC 6749 §6). Microsoft's answers name the scope of one
    /// API only, and its refresh tokens are good for all. What asks for a refresh token or an ID token is left out of
    /// many answers without being lost.
    private func successorTarget(
        of used: StoredRefreshToken,
        _ response: TokenResponse,
        _ request: TokenRequest
    ) -> String? {
        guard request.authority.issuer != nil else { return nil }
        let (granted, known) = (response.scope ?? request.scope, used.scope)
        if let known, !known.matchesNothing, !known.covers(request.scope), granted.covers(known) { return nil }
        return Scope(granted.tokens + (known?.reservedTokens ?? [])).sortedText
    }

    private func saveFamily(of response: TokenResponse, request: TokenRequest) throws {
        _ = try saveAppMetadata(
            client: request.clientID,
            environment: request.authority.environment,
            family: response.familyID,
            extra: JSONValue.Object()
        )
    }

    /// `sessionScope` is what each token of the session is for, whatever else it was asked for.
    private func saveAccessToken(
        _ response: TokenResponse,
        request: TokenRequest,
        realm: Realm,
        account: Int64?,
        id: Account.ID?,
        sessionScope: Scope? = nil
    ) throws -> SavedTokens {
        var accessToken: AccessToken?
        if let token = AccessTokenRow(response, request: request, realm: realm, now: now) {
            // A newer sign-in may have brought another key, and nothing is to be found that cannot be proved.
            let isProvable =
                try !AccessToken.isDPoP(token.tokenType)
                || account.map { try isBound($0, client: request.clientID, to: token.keyID) } ?? false
            if isProvable { try replaceAccessTokens(with: token, account: account, sessionScope: sessionScope) }
            accessToken = AccessToken(token)
        }
        return outcome(.stored, response, request, id, accessToken: accessToken)
    }

    private func outcome(
        _ outcome: SavedTokens.Outcome,
        _ response: TokenResponse,
        _ request: TokenRequest,
        _ account: Account.ID?,
        accessToken: AccessToken?
    ) -> SavedTokens {
        let granted = response.scope ?? request.scope
        return SavedTokens(
            account: account,
            accessToken: accessToken,
            grantedScope: granted,
            declinedScope: request.scope.missing(from: granted),
            outcome: outcome
        )
    }
}

/// The issuer answered a refresh with the tokens of another account, or a request with those of two.
struct MismatchedAccount: Error {}
