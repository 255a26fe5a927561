/// A new password for someone who can read their mail.
extension Journey {
    func resetAddress(_ interaction: Interaction) async throws -> Reply {
        do {
            let user = try await state.users.user(named: form["username"] ?? "", in: tenant)
            let address = AuthMethod(address: user.email)
            return try await sendCode(interaction, to: address, for: .resetPassword(userID: user.id))
        } catch let error as ProtocolError {
            return try await showAgain(interaction, error)
        }
    }

    func resetPassword(_ interaction: Interaction, _ userID: String) async throws -> Reply {
        do {
            let user = try await state.users.user(userID)
            let password = form["password"] ?? ""
            let hash = try PasswordPolicy.hash(password, for: user.email)
            try state.users.checkNotUsed(password, by: user)
            await state.users.reset(userID, to: hash, after: 0)
            return try await signedIn(interaction, as: user, methods: ["otp"])
        } catch let error as ProtocolError {
            return try await showAgain(interaction, error)
        }
    }
}
