import OAuth

/// The checked parameters of a logout request (OpenID Connect RP-Initiated Logout 1.0 section 2).
struct LogoutRequest: Sendable {
    /// Whose session the ID token is of; nil without one.
    let userID: String?
    let client: Client?

    /// Where the browser goes on to, with the state.
    let returnAddress: String?

    init(_ parameters: Parameters, realm: Realm, state: ProviderState) async throws {
        let token = try await Self.claims(of: parameters["id_token_hint"], realm, state)
        let named = parameters["client_id"]
        let audience = token?["aud"]?.text
        guard named == nil || audience == nil || named == audience else {
            throw ProtocolError.invalidParameter("client_id")
        }
        userID = token?["oid"]?.text
        let client = try (named ?? audience).map { try realm.client($0) }
        self.client = client
        returnAddress = try parameters["post_logout_redirect_uri"].map { uri in
            // RP-Initiated Logout: only to an address that is registered for the client.
            guard client?.allowsPostLogoutRedirect(to: uri) == true else {
                throw ProtocolError.invalidParameter("post_logout_redirect_uri")
            }
            let state = parameters["state"].map { "state=" + AuthorizationReply.encode($0) }
            return uri + (state.map { (uri.contains("?") ? "&" : "?") + $0 } ?? "")
        }
    }

    /// The claims of an ID token of this issuer; one that has expired is as good.
    private static func claims(of hint: String?, _ realm: Realm, _ state: ProviderState) async throws -> SignedClaims? {
        guard let hint else { return nil }
        guard let claims = try await SignedClaims.verified(hint, by: state.keys.published(for: realm)),
            claims["iss"]?.text == realm.issuer
        else { throw ProtocolError.invalidParameter("id_token_hint") }
        return claims
    }
}

extension Journey {
    /// OpenID Connect RP-Initiated Logout 1.0.
    func logout() async throws -> Reply {
        if let interaction = exchange.form["interaction"] { return try await post(interaction) }
        let request = try await LogoutRequest(exchange.parameters, realm: realm, state: state)
        let people = await state.browsers.accounts(exchange.cookie(Self.sessionCookie), in: tenant)
        // RP-Initiated Logout: any page can send a browser here, so without the ID token of a session
        // here the person is asked.
        guard people.isEmpty || people.contains(where: { $0.userID == request.userID }) else {
            return try await begin(.logout(request), at: .signOut, request.client)
        }
        return await signOut(request)
    }

    /// What the form does.
    func confirmSignOut(_ interaction: Interaction, _ action: String) async throws -> Reply {
        guard action == "sign_out", case .logout(let request) = interaction.goal else {
            throw ProtocolError.expiredToken
        }
        try await end(interaction)
        return await signOut(request)
    }

    /// Ends the session of the ID token at this browser, or all of the tenant's.
    private func signOut(_ request: LogoutRequest) async -> Reply {
        var reply =
            request.returnAddress.map { Reply.found($0, outcome: "signed out") }
            ?? Page.done("Signed out", "You are signed out at this browser.")
        guard let cookie = exchange.cookie(Self.sessionCookie) else { return reply }
        if await state.browsers.forget(cookie, in: tenant, userID: request.userID) {
            reply.cookies.append(self.cookie(Self.sessionCookie, "") + "; Max-Age=0")
        }
        return reply
    }
}
