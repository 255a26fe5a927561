/// What follows once it is known who the person is.
extension Journey {
    /// Shows the page that is still due, or ends the journey.
    func proceed(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        let user = try await state.users.user(signedIn.userID)
        if needsSecondFactor(interaction, signedIn) { return try await askForSecondFactor(interaction, signedIn, user) }
        switch interaction.goal {
        case .device(let userCode):
            return try await show(interaction, at: userCode == nil ? .deviceCode : .approveDevice(signedIn))
        case .authorize where realm.policy?.kind == .editProfile:
            return try await show(interaction, at: .editProfile(signedIn))
        case .authorize(let request): return try await finish(interaction, request, signedIn)
        }
    }

    var profileNames: [String] {
        let names = realm.policy?.attributePages.joined().map(\.name) ?? []
        return ["displayName"] + (names.isEmpty ? ["city", "country"] : names.filter { $0 != "displayName" })
    }

    func editProfile(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        guard case .authorize(let request) = interaction.goal else { throw ProtocolError.expiredToken }
        var changes: [String: String] = [:]
        for name in profileNames {
            guard let value = form[name] else { continue }
            guard tenant.attribute(name)?.accepts(.string(value)) == true else {
                return try await page(interaction, message: ProtocolError.attributes([name]).text)
                    .reply(outcome: "attribute_validation_failed")
            }
            changes[name] = value
        }
        await state.users.update(signedIn.userID, attributes: changes)
        return try await finish(interaction, request, signedIn)
    }

    /// Asks for consent where it is due, then sends the code to the client.
    private func finish(_ interaction: Interaction, _ request: AuthorizationRequest, _ signedIn: SignedIn) async throws
        -> Reply
    {
        let consented = await state.users.consents(of: signedIn.userID, to: request.client)
        let asked = request.scopes.openID + request.scopes.resourceScopes
        let missing = request.prompt.contains("consent") ? asked : request.scopes.missingConsent(consented)
        guard missing.isEmpty else { return try await show(interaction, at: .consent(signedIn, asked)) }
        return try await redirect(interaction, request, signedIn)
    }

    func consent(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn, _ scopes: [String]) async throws
        -> Reply
    {
        guard action == "accept", case .authorize(let request) = interaction.goal else {
            throw ProtocolError.expiredToken
        }
        await state.users.consent(signedIn.userID, to: scopes, for: request.client)
        return try await redirect(interaction, request, signedIn)
    }

    private func redirect(_ interaction: Interaction, _ request: AuthorizationRequest, _ signedIn: SignedIn)
        async throws -> Reply
    {
        try await end(interaction)
        return await request.response.success(state.grants.issueCode(for: request, signedIn))
    }

    // MARK: Devices

    func deviceCode(_ interaction: Interaction) async throws -> Reply {
        let typed = form["user_code"] ?? ""
        guard let device = await state.grants.device(withUserCode: typed, realm: realm) else {
            return try await page(interaction, filled: typed, message: "No device waits with this code.").reply()
        }
        try await end(interaction)
        let client = try realm.client(device.holder.clientID)
        // A person always signs in or chooses here, so that a link alone cannot connect a device.
        let users = try await users(of: accounts)
        let step: Interaction.Step = users.isEmpty ? .signIn : .chooseAccount(users)
        return try await begin(.device(userCode: device.userCode), at: step, client: client)
    }

    func approveDevice(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn) async throws -> Reply {
        guard action == "approve", case .device(let userCode?) = interaction.goal,
            await state.browsers.end(interaction), await state.grants.decide(userCode, .approved(signedIn))
        else { throw ProtocolError.expiredToken }
        return Page.done("Connected", "The device is connected. You can close this page.")
    }

    /// The users behind a session's accounts; those gone or disabled are left out.
    func users(of accounts: [SignedIn]) async throws -> [User] {
        var users: [User] = []
        for account in accounts {
            do {
                users.append(try await state.users.user(account.userID))
            } catch is ProtocolError {
                continue  // not offered any more
            }
        }
        return users
    }
}
