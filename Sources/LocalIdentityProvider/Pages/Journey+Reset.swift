/// A new password for someone who can read their mail.
extension Journey {
    func resetAddress(_ interaction: Interaction) async throws -> Reply {
        do {
            let user = try await state.users.user(named: form["username"] ?? "", in: tenant)
            let sent = try await state.browsers.sendCode(
                interaction,
                to: user.email,
                channel: "email",
                purpose: "password reset"
            )
            return await show({ Page.code($0, sentTo: user.email) }, sent, at: .resetCode(userID: user.id))
        } catch let error as ProtocolError {
            return Page.resetAddress(interaction, message: error.text).reply(outcome: error.description)
        }
    }

    func resetCode(_ interaction: Interaction, _ action: String, _ userID: String) async throws -> Reply {
        let user = try await state.users.user(userID)
        return try await checkCode(interaction, action, sentTo: user.email, channel: "email", purpose: "password reset")
        {
            await show({ Page.newPassword($0) }, interaction, at: .resetPassword(userID: userID))
        }
    }

    func resetPassword(_ interaction: Interaction, _ userID: String) async throws -> Reply {
        do {
            let user = try await state.users.user(userID)
            let password = form["password"] ?? ""
            try PasswordPolicy.check(password, for: user.email)
            try state.users.checkNotUsed(password, by: user)
            await state.users.reset(userID, to: try PasswordHash(password), after: 0)
            return try await signedIn(interaction, as: user, methods: ["otp"])
        } catch let error as ProtocolError {
            return Page.newPassword(interaction, message: error.text).reply(outcome: error.description)
        }
    }
}
