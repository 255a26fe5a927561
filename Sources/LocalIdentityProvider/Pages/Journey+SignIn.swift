/// Sign-in with a password or a code, the account chooser and the second factor.
extension Journey {
    func signIn(_ interaction: Interaction, _ action: String) async throws -> Reply {
        let username = form["username"] ?? ""
        switch action {
        case "sign_up_now":
            return await show({ Page.signUp($0, signUpAttributes($0)) }, interaction, at: .signUp)
        case "forgot": return await show({ Page.resetAddress($0) }, interaction, at: .resetAddress)
        default: break
        }
        do {
            let user = try await state.users.user(named: username, in: tenant)
            if action == "send_code" {
                let sent = try await state.browsers.sendCode(
                    interaction,
                    to: user.email,
                    channel: "email",
                    purpose: "sign-in"
                )
                return await show({ Page.code($0, sentTo: user.email) }, sent, at: .signInCode(userID: user.id))
            }
            try await state.users.checkPassword(form["password"] ?? "", of: user)
            guard !user.mustResetPassword else {
                return await show(
                    { Page.resetAddress($0, message: "The password must be reset first.") },
                    interaction,
                    at: .resetAddress
                )
            }
            return try await signedIn(interaction, as: user, methods: ["pwd"])
        } catch let error as ProtocolError {
            // The page does not tell an unknown address from a wrong password.
            let message = error == .userNotFound ? ProtocolError.wrongPassword.text : error.text
            return Page.signIn(interaction, username: username, message: message).reply(outcome: error.description)
        }
    }

    func signInCode(_ interaction: Interaction, _ action: String, _ userID: String) async throws -> Reply {
        let user = try await state.users.user(userID)
        return try await checkCode(interaction, action, sentTo: user.email, channel: "email", purpose: "sign-in") {
            try await signedIn(interaction, as: user, methods: ["otp"])
        }
    }

    /// Goes on when the code is right; shows the page again when it is not or another code is wanted.
    func checkCode(
        _ interaction: Interaction,
        _ action: String,
        sentTo target: String,
        channel: String,
        purpose: String,
        then proceed: @Sendable () async throws -> Reply
    ) async throws -> Reply {
        do {
            if action == "resend" {
                let sent = try await state.browsers.sendCode(
                    interaction,
                    to: target,
                    channel: channel,
                    purpose: purpose
                )
                return Page.code(sent, sentTo: target, message: "Another code was sent.").reply()
            }
            try await state.browsers.checkCode(form["code"] ?? "", of: interaction)
        } catch let error as ProtocolError {
            return Page.code(interaction, sentTo: target, message: error.text).reply(outcome: error.description)
        }
        return try await proceed()
    }

    func choose(_ interaction: Interaction, _ action: String) async throws -> Reply {
        let accounts = await state.browsers.accounts(exchange.cookie(Self.sessionCookie), in: tenant)
        guard action == "choose", let account = accounts.first(where: { $0.userID == form["account"] }) else {
            return await show({ Page.signIn($0, username: "") }, interaction, at: .signIn)
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
        return switch request.client.secondFactor {
        case .never: false
        case .always: true
        case .onClaim: !request.contexts.isEmpty
        }
    }

    /// Someone without a registered method gets the code at their own address.
    func askForSecondFactor(_ interaction: Interaction, _ signedIn: SignedIn, _ user: User) async throws -> Reply {
        let method =
            user.methods.first { !$0.isBlocked } ?? AuthMethod(id: "own-address", channel: "email", target: user.email)
        let sent = try await state.browsers.sendCode(
            interaction,
            to: method.target,
            channel: method.channel,
            purpose: "second factor"
        )
        return await show({ Page.code($0, sentTo: method.target) }, sent, at: .secondFactor(signedIn, method))
    }

    func secondFactor(_ interaction: Interaction, _ action: String, _ signedIn: SignedIn, _ method: AuthMethod)
        async throws
        -> Reply
    {
        let purpose = "second factor"
        return try await checkCode(
            interaction,
            action,
            sentTo: method.target,
            channel: method.channel,
            purpose: purpose
        ) {
            var signedIn = signedIn
            signedIn.methods += ["otp", "mfa"]
            if case .authorize(let request) = interaction.goal { signedIn.contexts = request.contexts }
            return try await remember(interaction, signedIn)
        }
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
