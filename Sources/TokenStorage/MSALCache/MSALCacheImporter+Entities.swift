import OAuth

extension MSALCacheImporter {
    mutating func takeIDToken(_ entity: MSALEntity) throws {
        var entity = entity
        let secret = try entity.secret()
        let environment = try entity.environment()
        let client = try entity.requiredKey("client_id")
        let homeAccountID = try entity.requiredKey("home_account_id")
        let realm = try entity.key("realm") ?? ""
        let issuer = entity.accountIssuer(at: environment)
        let type = entity.text("credential_type") ?? "IdToken"
        // A token that cannot be decoded still is one to give back; it only describes no account.
        let claims = (try? IDToken(decoding: secret))?.claims
        try persons.requireSubject(claims?.localAccountID, homeAccountID, client: client, in: session)
        if let tenant = claims?.tenantID, tenant.keyFlaw == nil { domains.add(realm, of: homeAccountID, tenant) }
        let known = session.newAccounts.count
        let account = try accountRow(
            homeAccountID,
            environment,
            realm: realm,
            client: client,
            issuer: issuer,
            claims: claims
        )
        let makesAccount = session.newAccounts.count > known
        accounts.add(account, homeAccountID: homeAccountID, environment: environment, realm: realm, client: client)
        let token = IDTokenRow(
            clientID: client,
            environment: try self.environment(environment, of: account),
            realm: realm,
            realmFold: try resolve(realm, homeAccountID),
            credentialType: type,
            extra: entity.rest,
            secret: secret
        )
        if let local = claims?.localAccountID, local.keyFlaw == nil, !realm.isEmpty {
            described.append(DescribedTenant(account: account, token: token, localAccountID: local))
        }
        let issued = claims?.issuedAt?.unixSeconds
        if issued != nil { try readIssues(of: account) }
        let (row, age) = try session.importIDToken(token, claims: claims, account: account)
        // What is not taken tells the age of nothing.
        if let issued { issues[account]?.add(issued, client: client.folded, tenant: token.realmFold) }
        if let age { ages[account, default: [:]][client.folded] = age }
        if let claims, try isHomeTenant(token.realmFold, homeAccountID, at: environment) {
            // Another client may have brought newer names.
            let time = issues[account]?.ofAllClients.tenants[token.realmFold]
            try name(account, by: claims, time?.stored == nil ? age : time?.age, isNamed: makesAccount)
        }
        count(row, \.idTokens, account: account)
    }

    /// Gives an account the names in an ID token of its home tenant that is newer, or that a guest's was before.
    ///
    /// Of an account that the store had the issuer stays: where tokens are sent, no document decides anew.
    private mutating func name(_ account: Int64, by claims: Claims, _ age: ImportedAge?, isNamed: Bool) throws {
        let isNew = session.newAccounts.contains(account)
        let issued = claims.issuedAt?.unixSeconds ?? 0
        guard age == .newer || age == nil && isNew, named[account].map({ issued > $0 }) ?? true else { return }
        named[account] = issued
        guard !isNamed else { return }
        let username = claims.username.flatMap { $0.keyFlaw == nil ? $0 : nil }
        let issuer = isNew ? Self.issuer(of: claims) : nil
        try session.nameAccount(account, username: username ?? "", name: claims.name, issuer: issuer, isHome: true)
    }

    mutating func takeAccount(_ entity: MSALEntity) throws {
        var entity = entity
        let homeAccountID = try entity.requiredKey("home_account_id")
        let environment = try entity.environment()
        let realm = try entity.key("realm") ?? ""
        let username = entity.description("username") ?? ""
        let localAccountID = entity.description("local_account_id")
        try persons.requireOwner(localAccountID, homeAccountID, in: session)
        let issuer = entity.accountIssuer(at: environment)
        let account = try accountRow(homeAccountID, environment, realm: realm, client: nil, issuer: issuer, claims: nil)
        accounts.add(account, homeAccountID: homeAccountID, environment: environment, realm: realm, client: nil)
        let name = entity.rest["name"]?.text
        let shown = username == Self.placeholderUsername ? "" : username
        let profile = TenantProfileRow(
            environment: try self.environment(environment, of: account),
            realm: realm,
            realmFold: try resolve(realm, homeAccountID),
            localAccountID: localAccountID,
            username: username,
            authorityType: entity.text("authority_type").flatMap { $0.isEmpty ? nil : $0 } ?? "MSSTS",
            extra: entity.rest
        )
        let age = age(of: account, tenant: profile.realmFold)
        let source = ProfileSource.document(age, profiles)
        let (change, row) = try session.saveTenantProfile(profile, account: account, from: source)
        profiles.add(realm, in: ProfilePlace(account: account, row: row))
        if change != .none {
            let isHome =
                try age != .older && change == .replaced
                && isHomeTenant(profile.realmFold, homeAccountID, at: environment)
            try session.nameAccount(account, username: shown, name: name, isHome: isHome)
        }
        count(change != .none, \.profiles, account: account)
    }

    mutating func takeAccessToken(_ entity: MSALEntity, _ bucket: MSALBucket) throws {
        var entity = entity
        let secret = try entity.secret()
        let environment = try entity.environment()
        let client = try entity.requiredKey("client_id")
        // An issuer may grant no scope, and MSAL for Python writes an empty one.
        let target = try entity.required("target", takesEmpty: true)
        guard let expiresOn = entity.seconds("expires_on") else {
            throw MSALRejection("it has no expires_on that is a time, and so counts as expired")
        }
        guard expiresOn <= .lastUnixSecond else {
            throw MSALRejection("its expires_on is later than the year 9999, as one in milliseconds would be")
        }
        let namedAccount = try entity.key("home_account_id")
        let homeAccountID = namedAccount ?? ""
        try persons.requireClient(client, homeAccountID)
        // An export writes it for a token of no account.
        if entity.rest["home_account_id"]?.isNull == true { entity.drop("home_account_id") }
        let realm = try entity.key("realm") ?? ""
        let issuer = entity.accountIssuer(at: environment)
        let bound = MSALBucket.boundAccessToken
        let isBound = bucket == bound || entity.rest["credential_type"]?.text?.folded == bound.rawValue.folded
        let tokenType = try entity.tokenType(isBound: isBound)
        let variant = TokenVariant(of: entity.rest).text
        let keyIDs = ["key_id", "keyid", "kid"].compactMap { entity.text($0) }.filter { !$0.isEmpty }
        let nodesKeyID = isBound ? entity.rest["keyId"]?.text : nil
        // Another type than its bucket's does not change how it is read, and goes back out.
        if entity.rest["credential_type"]?.text == bucket.rawValue { entity.drop("credential_type") }
        var token = AccessTokenRow(
            clientID: client,
            environment: environment,
            realm: realm,
            realmFold: try resolve(realm, homeAccountID),
            target: target,
            credentialType: bucket.rawValue,
            tokenType: tokenType,
            keyID: keyIDs.first ?? nodesKeyID ?? "",
            variant: variant,
            cachedAt: entity.seconds("cached_at"),
            expiresOn: expiresOn,
            // MSAL.NET once wrote it under the issuer's name for it.
            extendedExpiresOn: entity.seconds("extended_expires_on") ?? entity.rest["ext_expires_on"]?.seconds,
            refreshOn: entity.seconds("refresh_on"),
            extra: entity.rest,
            secret: secret
        )
        // MSAL for Node finds a token of its client by this, and by no null.
        if namedAccount?.isEmpty == true { token.extra["home_account_id"] = "" }
        let account =
            try homeAccountID.isEmpty
            ? nil : accountRow(homeAccountID, environment, realm: realm, client: client, issuer: issuer, claims: nil)
        if let account {
            // Its refresh token, which names no tenant, is of the same account.
            accounts.add(account, homeAccountID: homeAccountID, environment: environment, realm: realm, client: client)
            token.environment = try self.environment(environment, of: account)
            try noteTime(of: token, account: account)
        }
        let row = try session.importAccessToken(token, account: account, &accessTokens)
        count(row, \.accessTokens, account: account)
    }

    mutating func takeRefreshToken(_ entity: MSALEntity) throws {
        var entity = entity
        let secret = try entity.secret()
        guard secret != Self.tombstone else { throw MSALRejection("it is the mark of a deleted token") }
        let environment = try entity.environment()
        let client = try entity.requiredKey("client_id")
        let homeAccountID = try entity.requiredKey("home_account_id")
        try persons.requireClient(client, homeAccountID)
        let issuer = entity.accountIssuer(at: environment)
        // Early releases of MSAL for Node wrote the second.
        let families = [entity.text("family_id"), entity.rest["familyId"]?.text]
        var token = RefreshTokenRow(
            clientID: client,
            familyID: families.compactMap(\.self).first { !$0.isEmpty },
            environment: environment,
            target: entity.text("target"),
            credentialType: entity.text("credential_type") ?? "RefreshToken",
            modifiedAt: entity.pastSeconds("last_modification_time", now: session.now) ?? 0,
            extra: entity.rest,
            secret: secret
        )
        let account = try accountRow(
            homeAccountID,
            environment,
            realm: nil,
            client: client,
            issuer: issuer,
            claims: nil
        )
        token.environment = try self.environment(environment, of: account)
        // Of several tenants, the one that was asked last: a refresh token is good for all of them.
        let issued = issues[account]?.clients[client.folded]?.newest
        let issue = issued?.age ?? ages[account]?[client.folded]
        let time = issue == nil ? times[account]?[client.folded] : issued
        let age = issue ?? time?.age
        let row = try session.importRefreshToken(
            token,
            age: age,
            by: time?.imported,
            account: account,
            &refreshTokens,
            &refreshedTokens
        )
        // A token that is not the person's session, such as one on behalf of them, does not sign the account in.
        if let row, try session.isOrdinaryRefreshToken(row, account: account) {
            try session.forgetSignOut(account: account, client: client)
        }
        count(row, \.refreshTokens, account: account)
    }

    mutating func takeAppMetadata(_ entity: MSALEntity) throws {
        var entity = entity
        let client = try entity.requiredKey("client_id")
        let environment = try entity.environment()
        let family = entity.text("family_id")
        var rest = entity.rest
        // What the store has learned since stays: without its family a client would be asked to sign in again.
        let isOlder = olderClients.contains(client.folded)
        // An empty family says the same as none, but an export is to give it back as it was.
        if family?.isEmpty == true, !isOlder { rest["family_id"] = "" }
        let isRepeated = !clients.insert([client.folded, environment]).inserted
        let isChanged = try session.saveAppMetadata(
            client: client,
            environment: environment,
            family: family.flatMap { $0.isEmpty ? nil : $0 },
            extra: rest,
            onlyFills: isRepeated || isOlder
        )
        count(isChanged, \.appMetadata, account: nil)
    }

    /// Reads when the ID tokens of an account were issued that the store had before this document: once, as each of
    /// them is opened for it.
    private mutating func readIssues(of account: Int64) throws {
        guard !session.newAccounts.contains(account), issues[account] == nil else { return }
        issues[account] = AccountIssues(try session.idTokens(account, leavingOutDamaged: true))
    }

    /// Notes when an access token was stored, which tells how old the refresh token is that has no time beside it.
    private mutating func noteTime(of token: AccessTokenRow, account: Int64) throws {
        let client = token.clientID.folded
        // A token of a partition is renewed by itself, and a time that is yet to come is none.
        guard token.variant.isEmpty, let cachedAt = token.cachedAt,
            MSALEntity.isPast(cachedAt, now: session.now),
            ages[account]?[client] == nil, !session.newAccounts.contains(account)
        else { return }
        var time =
            try times[account]?[client]
            ?? ImportedTime(stored: session.latestTime(ofTokensOf: account, client: client), imported: cachedAt)
        time.imported = max(time.imported, cachedAt)
        times[account, default: [:]][client] = time
    }

    /// Gives accounts the tenants that only ID tokens tell of: not every library writes an account for each.
    func describeTenants() throws {
        for tenant in described {
            do {
                try session.describeTenant(of: tenant)
                try session.learnTenant(of: tenant)
            } catch is UnfitText {
                // Folded, a name may be longer than any that rows are found by. No other entry is to suffer for it.
            }
        }
    }

    /// What MSAL for Apple's systems writes where B2C named no user.
    private static let placeholderUsername = "Missing from the token response"

    /// What ADAL left in the place of a deleted token.
    private static let tombstone = Secret("<tombstone>")
}
