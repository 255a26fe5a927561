import Foundation

/// What each form does. An error shows its page again.
extension Journey {
    func signIn(_ interaction: Interaction, _ action: String) async throws -> Reply {
        if exchange.form["action"] == nil, let provider = exchange.form["provider"],
            tenant.identityProviders.contains(provider)
        {
            return try await show(interaction, at: .federated(provider))
        }
        if action == "forgot", let reply = try await forwardForgottenPassword(interaction) { return reply }
        if action == "sign_up_now" { return try await show(interaction, at: .signUp) }
        if action == "forgot" { return try await show(interaction, at: .resetAddress) }
        // The page does not tell an unknown address from a wrong password.
        guard await state.users.exists(typed("username"), in: tenant) else { throw ProtocolError.wrongPassword }
        let user = try await state.users.user(named: typed("username"), in: tenant)
        if action == "send_code" {
            return try await sendCode(
                interaction,
                to: SecondFactorMethod(address: user.email),
                for: .signIn(userID: user.id)
            )
        }
        try await state.users.checkPassword(typed("password"), of: user)
        guard !user.mustResetPassword else {
            return try await show(interaction, at: .resetAddress, message: ProtocolError.mustReset.text)
        }
        return try await signedIn(interaction, as: user.id, methods: ["pwd"])
    }

    /// Tells the app that the password is forgotten, where the user flow does so, in the words of Azure AD B2C.
    private func forwardForgottenPassword(_ interaction: Interaction) async throws -> Reply? {
        guard realm.policy?.forwardsForgottenPassword == true, case .authorize(let request) = interaction.goal else {
            return nil
        }
        try await end(interaction)
        let text = "AADB2C90118: The user has forgotten their password."
        let time = state.clock.now.formatted(.iso8601)
        return request.response.failure(
            "access_denied",
            "\(text)\r\nCorrelation ID: \(exchange.correlationID)\r\nTimestamp: \(time)\r\n"
        )
    }

    /// A person of another identity provider; this one takes its word.
    func federated(_ interaction: Interaction, _ provider: String) async throws -> Reply {
        let users = await state.users.users(of: provider, in: tenant)
        guard let user = users.first(where: { $0.id == exchange.form["account"] }) else {
            throw ProtocolError.userNotFound
        }
        return try await signedIn(interaction, as: user.id, methods: ["fed"])
    }

    func choose(_ interaction: Interaction) async throws -> Reply {
        guard let chosen = try await people().first(where: { $0.user.id == exchange.form["account"] }) else {
            return try await show(interaction, at: .signIn)
        }
        return try await proceed(interaction, chosen.account)
    }

    /// Sign-up, with the address verified by a code before the user exists.
    func signUp(_ interaction: Interaction) async throws -> Reply {
        let email = typed("username").lowercased()
        guard SecondFactorMethod.isAddress(email) else { throw ProtocolError.invalidParameter("E-mail") }
        guard await !state.users.exists(email, in: tenant) else { throw ProtocolError.userExists }
        let needsPassword = interaction.client?.signUpMethod != .code || exchange.form["password"] != nil
        let password = needsPassword ? try PasswordPolicy.hash(typed("password"), for: email) : nil
        let names = attributes(interaction).map(\.name)
        let values = try values(of: names + ["displayName"])
        if let missing = names.first(where: { values[$0] == nil }) { throw ProtocolError.attributes([missing]) }
        let purpose = Interaction.CodePurpose.signUp(email: email, password: password, attributes: values)
        return try await sendCode(interaction, to: SecondFactorMethod(address: email), for: purpose)
    }

    func resetAddress(_ interaction: Interaction) async throws -> Reply {
        let user = try await state.users.user(named: typed("username"), in: tenant)
        let address = SecondFactorMethod(address: user.email)
        return try await sendCode(interaction, to: address, for: .resetPassword(userID: user.id))
    }

    func resetPassword(_ interaction: Interaction, _ userID: String) async throws -> Reply {
        let user = try await state.users.user(userID)
        let hash = try PasswordPolicy.hash(typed("password"), for: user.email)
        try state.users.checkNotUsed(typed("password"), by: user)
        await state.users.reset(userID, to: hash, after: 0)
        return try await signedIn(interaction, as: userID, methods: ["otp"])
    }

    func editProfile(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        guard case .authorize(let request) = interaction.goal else { throw ProtocolError.expiredToken }
        await state.users.update(signedIn.userID, attributes: try values(of: profileNames))
        return try await finish(interaction, request, signedIn)
    }

    func consent(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn, _ scopes: [String]) async throws
        -> Reply
    {
        guard action == "accept", case .authorize(let request) = interaction.goal else {
            throw ProtocolError.expiredToken
        }
        await state.users.consent(signedIn.userID, to: scopes, for: request.client.id)
        return try await finish(interaction, request, signedIn, hasAgreed: true)
    }

    func deviceCode(_ interaction: Interaction) async throws -> Reply {
        guard let device = await state.grants.device(withUserCode: typed("user_code"), at: realm) else {
            throw ProtocolError.noSuchDevice
        }
        try await end(interaction)
        // A person always signs in or chooses here, so that a link alone cannot connect a device.
        let users = try await people().map(\.user)
        let goal = Interaction.Goal.device(userCode: device.userCode)
        let client = try realm.client(device.holder.clientID)
        return try await begin(goal, at: users.isEmpty ? .signIn : .chooseAccount(users), client)
    }

    func approveDevice(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn) async throws -> Reply {
        guard action == "approve", case .device(let userCode?) = interaction.goal,
            await state.browsers.end(interaction),
            let device = await state.grants.decide(userCode, .approved(signedIn))
        else { throw ProtocolError.expiredToken }
        let scopes = device.scope.split(separator: " ").map(String.init)
        await state.users.consent(signedIn.userID, to: scopes, for: device.holder.clientID)
        return Page.done("Connected", "The device is connected. You can close this page.")
    }

    // MARK: Codes

    private func sendCode(
        _ interaction: Interaction,
        to method: SecondFactorMethod,
        for purpose: Interaction.CodePurpose,
        message: String? = nil
    ) async throws -> Reply {
        try await state.codes.send(interaction.id, to: method, purpose: purpose.name)
        return try await show(interaction, at: .code(method, purpose), message: message)
    }

    func enterCode(
        _ interaction: Interaction,
        _ action: String,
        _ method: SecondFactorMethod,
        _ purpose: Interaction.CodePurpose
    ) async throws -> Reply {
        if action == "resend" {
            return try await sendCode(interaction, to: method, for: purpose, message: "Another code was sent.")
        }
        try await state.codes.check(typed("code"), of: interaction.id)
        await state.codes.forget(interaction.id)
        switch purpose {
        case .signIn(let userID): return try await signedIn(interaction, as: userID, methods: ["otp"])
        case .resetPassword(let userID): return try await show(interaction, at: .resetPassword(userID: userID))
        case .signUp(let email, let password, let attributes):
            let user = try await state.users.create(email, in: tenant, password: password, attributes: attributes)
            return try await signedIn(interaction, as: user.id, methods: password == nil ? ["otp"] : ["pwd", "otp"])
        case .secondFactor(var signedIn):
            signedIn.methods += ["otp", "mfa"]
            if case .authorize(let request) = interaction.goal { signedIn.contexts = request.contexts }
            return try await proceed(interaction, signedIn, isNew: true)
        }
    }

    // MARK: Once it is known who the person is

    private func signedIn(_ interaction: Interaction, as userID: String, methods: [String]) async throws -> Reply {
        let signedIn = SignedIn(userID: userID, at: state.clock.now, methods: methods)
        return try await proceed(interaction, signedIn, isNew: true)
    }

    /// Shows the page that is still due or ends the journey; remembers a new sign-in at this browser.
    func proceed(_ interaction: Interaction, _ signedIn: SignedIn, isNew: Bool = false) async throws -> Reply {
        let user = try await state.users.user(signedIn.userID)
        // A device's client asks for one too; it has no way to name contexts.
        var contexts: [String] = []
        if case .authorize(let request) = interaction.goal { contexts = request.contexts }
        if !signedIn.hasSecondFactor, interaction.client?.secondFactor.applies(to: contexts) == true {
            // Someone without a registered method gets the code at their own address.
            let method = user.methods.first { !$0.isBlocked } ?? SecondFactorMethod(address: user.email)
            return try await sendCode(interaction, to: method, for: .secondFactor(signedIn))
        }
        var cookies: [String] = []
        if isNew {
            let old = exchange.cookie(Self.sessionCookie)
            cookies = [cookie(Self.sessionCookie, await state.browsers.remember(signedIn, in: tenant, cookie: old))]
        }
        var reply: Reply
        switch interaction.goal {
        case .device(let userCode):
            reply = try await show(interaction, at: userCode == nil ? .deviceCode : .approveDevice(signedIn))
        case .authorize where realm.policy?.kind == .editProfile:
            reply = try await show(interaction, at: .editProfile(signedIn))
        case .authorize(let request): reply = try await finish(interaction, request, signedIn)
        case .logout: throw ProtocolError.expiredToken
        }
        reply.cookies += cookies
        return reply
    }

    /// Asks for consent if it is needed, then sends the code to the client.
    private func finish(
        _ interaction: Interaction,
        _ request: AuthorizationParameters,
        _ signedIn: SignedIn,
        hasAgreed: Bool = false
    ) async throws -> Reply {
        let consented = await state.users.consents(of: signedIn.userID, to: request.client)
        let mustAgree = request.prompt.contains("consent") || !request.scopes.missingConsent(consented).isEmpty
        if mustAgree, !hasAgreed {
            let asked = request.scopes.openID + request.scopes.resourceScopes
            return try await show(interaction, at: .consent(signedIn, asked))
        }
        try await end(interaction)
        return await request.response.success(state.grants.issueCode(for: request, signedIn))
    }
}
