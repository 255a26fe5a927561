/// Sign-in with a password or a code, the account chooser and the second factor.
extension Journey {
    func signIn(_ interaction: Interaction, _ action: String) async throws -> Reply {
        if action == "sign_up_now" { return try await show(interaction, at: .signUp) }
        if action == "forgot" { return try await show(interaction, at: .resetAddress) }
        let username = form["username"] ?? ""
        do {
            let user = try await state.users.user(named: username, in: tenant)
            if action == "send_code" {
                let address = AuthMethod(address: user.email)
                return try await sendCode(interaction, to: address, for: .signIn(userID: user.id))
            }
            try await state.users.checkPassword(form["password"] ?? "", of: user)
            guard !user.mustResetPassword else {
                return try await show(interaction, at: .resetAddress, message: "The password must be reset first.")
            }
            return try await signedIn(interaction, as: user, methods: ["pwd"])
        } catch let error as ProtocolError {
            // The page does not tell an unknown address from a wrong password.
            let message = error == .userNotFound ? ProtocolError.wrongPassword.text : error.text
            return try await page(interaction, filled: username, message: message).reply(outcome: error.description)
        }
    }

    func choose(_ interaction: Interaction, _ action: String) async throws -> Reply {
        guard action == "choose", let account = await accounts.first(where: { $0.userID == form["account"] }) else {
            return try await show(interaction, at: .signIn)
        }
        return try await proceed(interaction, account)
    }

    /// Remembers a first factor, after asking for a second one where the client wants it.
    func signedIn(_ interaction: Interaction, as user: User, methods: [String]) async throws -> Reply {
        let signedIn = SignedIn(userID: user.id, at: state.clock.now, methods: methods)
        guard needsSecondFactor(interaction, signedIn) else { return try await remember(interaction, signedIn) }
        return try await askForSecondFactor(interaction, signedIn, user)
    }

    func needsSecondFactor(_ interaction: Interaction, _ signedIn: SignedIn) -> Bool {
        guard !signedIn.hasSecondFactor, case .authorize(let request) = interaction.goal else { return false }
        return request.client.secondFactor.applies(to: request.contexts)
    }

    /// Someone without a registered method gets the code at their own address.
    func askForSecondFactor(_ interaction: Interaction, _ signedIn: SignedIn, _ user: User) async throws -> Reply {
        let method = user.methods.first { !$0.isBlocked } ?? AuthMethod(address: user.email)
        return try await sendCode(interaction, to: method, for: .secondFactor(signedIn))
    }

    func remember(_ interaction: Interaction, _ signedIn: SignedIn) async throws -> Reply {
        let cookie = await state.browsers.remember(
            signedIn,
            in: tenant,
            cookie: exchange.cookie(Self.sessionCookie) ?? ""
        )
        var reply = try await proceed(interaction, signedIn)
        reply.cookies.append(self.cookie(Self.sessionCookie, cookie))
        return reply
    }
}
