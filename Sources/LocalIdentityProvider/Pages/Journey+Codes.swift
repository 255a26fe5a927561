/// Codes sent to a person on the way, and what the right one leads to.
extension Journey {
    func sendCode(
        _ interaction: Interaction,
        to method: AuthMethod,
        for purpose: Interaction.CodePurpose,
        message: String? = nil
    ) async throws -> Reply {
        let sent = try await state.browsers.sendCode(interaction, to: method, purpose: purpose.name)
        return try await show(sent, at: .code(method, purpose), message: message)
    }

    /// Goes on when the code is right; shows the page again when it is not or another code is wanted.
    func enterCode(
        _ interaction: Interaction,
        _ action: String,
        _ method: AuthMethod,
        _ purpose: Interaction.CodePurpose
    ) async throws -> Reply {
        do {
            if action == "resend" {
                return try await sendCode(interaction, to: method, for: purpose, message: "Another code was sent.")
            }
            try await state.browsers.checkCode(form["code"] ?? "", of: interaction)
        } catch let error as ProtocolError {
            return try await showAgain(interaction, error)
        }
        switch purpose {
        case .signIn(let userID):
            return try await signedIn(interaction, as: state.users.user(userID), methods: ["otp"])
        case .resetPassword(let userID): return try await show(interaction, at: .resetPassword(userID: userID))
        case .signUp(let email, let password, let attributes):
            let user = try await state.users.create(email, in: tenant, password: password, attributes: attributes)
            return try await signedIn(interaction, as: user, methods: password == nil ? ["otp"] : ["pwd", "otp"])
        case .secondFactor(var signedIn):
            signedIn.methods += ["otp", "mfa"]
            if case .authorize(let request) = interaction.goal { signedIn.contexts = request.contexts }
            return try await remember(interaction, signedIn)
        }
    }
}
