/// Sign-up, with the address verified by a code before the user exists.
extension Journey {
    func signUpAttributes(_ interaction: Interaction) -> [AttributeDefinition] {
        let pages = realm.policy?.attributePages ?? interaction.client?.attributePages ?? []
        return pages.joined().map(\.name).filter { $0 != "displayName" }.compactMap(tenant.attribute)
    }

    func signUp(_ interaction: Interaction) async throws -> Reply {
        let definitions = signUpAttributes(interaction)
        do {
            let email = (form["username"] ?? "").lowercased()
            guard email.wholeMatch(of: /[^@\s]+@[^@\s.]+(\.[^@\s.]+)+/) != nil else {
                throw ProtocolError.invalidParameter("E-mail")
            }
            guard await !state.users.exists(email, in: tenant) else { throw Users.alreadyExists }
            var password: PasswordHash?
            if interaction.client?.signUpMethod != .code || form["password"] != nil {
                try PasswordPolicy.check(form["password"] ?? "", for: email)
                password = try PasswordHash(form["password"] ?? "")
            }
            var attributes: [String: String] = [:]
            for definition in definitions {
                guard let value = form[definition.name], definition.accepts(.string(value)) else {
                    throw SubmittedAttributes.invalid([definition.name])
                }
                attributes[definition.name] = value
            }
            if let name = form["displayName"] { attributes["displayName"] = name }
            let sent = try await state.browsers.sendCode(interaction, to: email, channel: "email", purpose: "sign-up")
            let step = Interaction.Step.signUpCode(email: email, password: password, attributes: attributes)
            return await show({ Page.code($0, sentTo: email) }, sent, at: step)
        } catch let error as ProtocolError {
            return Page.signUp(interaction, definitions, message: error.text).reply(outcome: error.description)
        }
    }

    func signUpCode(
        _ interaction: Interaction,
        _ action: String,
        _ email: String,
        _ password: PasswordHash?,
        _ attributes: [String: String]
    ) async throws -> Reply {
        try await checkCode(interaction, action, sentTo: email, channel: "email", purpose: "sign-up") {
            let user = try await state.users.create(email, in: tenant, password: password, attributes: attributes)
            return try await signedIn(interaction, as: user, methods: password == nil ? ["otp"] : ["pwd", "otp"])
        }
    }
}
