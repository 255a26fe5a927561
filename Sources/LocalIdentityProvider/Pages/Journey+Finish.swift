import Foundation

/// What follows once it is known who the person is.
extension Journey {
    /// Shows the page that is still due, or ends the journey.
    func proceed(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        let user = try await state.users.user(signedIn.userID)
        if needsSecondFactor(interaction, signedIn) { return try await askForSecondFactor(interaction, signedIn, user) }
        switch interaction.goal {
        case .device(let userCode):
            let name = interaction.client?.name ?? "The device"
            guard userCode != nil else {
                return await show({ Page.deviceCode($0, code: "") }, interaction, at: .deviceCode)
            }
            return await show(
                { Page.approveDevice($0, client: name, user: user) },
                interaction,
                at: .approveDevice(signedIn)
            )
        case .authorize(let request):
            if realm.policy?.kind == .editProfile {
                return await show({ Page.profile($0, user, profileNames) }, interaction, at: .editProfile(signedIn))
            }
            return try await finish(interaction, request, signedIn)
        }
    }

    private var profileNames: [String] {
        let names = realm.policy?.attributePages.joined().map(\.name) ?? []
        return ["displayName"] + (names.isEmpty ? ["city", "country"] : names.filter { $0 != "displayName" })
    }

    func editProfile(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        guard case .authorize(let request) = interaction.goal else { throw ProtocolError.expiredToken }
        var changes: [String: String] = [:]
        for name in profileNames {
            guard let value = form[name] else { continue }
            guard tenant.attribute(name)?.accepts(.string(value)) == true else {
                let user = try await state.users.user(signedIn.userID)
                return Page.profile(interaction, user, profileNames, message: SubmittedAttributes.invalid([name]).text)
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
        guard missing.isEmpty else {
            return await show({ Page.consent($0, request.client, asked) }, interaction, at: .consent(signedIn, asked))
        }
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
        async throws
        -> Reply
    {
        guard await state.browsers.end(interaction) else { throw ProtocolError.expiredToken }
        return await AuthorizationResponse(request).success(state.grants.issueCode(request.code(for: signedIn, state)))
    }

    // MARK: Devices

    func deviceCode(_ interaction: Interaction) async throws -> Reply {
        let typed = form["user_code"] ?? ""
        guard let device = await state.grants.device(withUserCode: typed, realm: realm) else {
            return Page.deviceCode(interaction, code: typed, message: "No device waits with this code.").reply()
        }
        guard await state.browsers.end(interaction) else { throw ProtocolError.expiredToken }
        let client = try realm.client(device.clientID)
        // A person always signs in or chooses here, so that a link alone cannot connect a device.
        let accounts = await state.browsers.accounts(exchange.cookie(Self.sessionCookie), in: tenant)
        let users = try await accounts.users(state)
        let step: Interaction.Step = users.isEmpty ? .signIn : .chooseAccount
        return try await begin(.device(userCode: device.userCode), at: step, client: client) {
            (users.isEmpty ? Page.signIn($0, username: "") : Page.accounts($0, users)).reply()
        }
    }

    func approveDevice(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn) async throws -> Reply {
        guard action == "approve", case .device(let userCode?) = interaction.goal,
            await state.browsers.end(interaction), await state.grants.decide(userCode, .approved(signedIn))
        else { throw ProtocolError.expiredToken }
        return Page.done("Connected", "The device is connected. You can close this page.")
    }
}

extension [SignedIn] {
    /// The users behind a session's accounts; those gone or disabled are left out.
    func users(_ state: ProviderState) async throws -> [User] {
        var users: [User] = []
        for account in self {
            do {
                users.append(try await state.users.user(account.userID))
            } catch is ProtocolError {
                continue  // not offered any more
            }
        }
        return users
    }
}
