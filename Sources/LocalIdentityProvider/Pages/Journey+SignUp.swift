/// Sign-up, with the address verified by a code before the user exists.
extension Journey {
    func signUpAttributes(_ interaction: Interaction) -> [AttributeDefinition] {
        let pages = realm.policy?.attributePages ?? interaction.client?.attributePages ?? []
        return pages.joined().map(\.name).filter { $0 != "displayName" }.compactMap(tenant.attribute)
    }

    func signUp(_ interaction: Interaction) async throws -> Reply {
        do {
            let email = (form["username"] ?? "").lowercased()
            guard AuthMethod.isAddress(email) else { throw ProtocolError.invalidParameter("E-mail") }
            guard await !state.users.exists(email, in: tenant) else { throw ProtocolError.userExists }
            var password: PasswordHash?
            if interaction.client?.signUpMethod != .code || form["password"] != nil {
                password = try PasswordPolicy.hash(form["password"] ?? "", for: email)
            }
            var attributes: [String: String] = [:]
            for definition in signUpAttributes(interaction) {
                guard let value = form[definition.name], definition.accepts(.string(value)) else {
                    throw ProtocolError.attributes([definition.name])
                }
                attributes[definition.name] = value
            }
            if let name = form["displayName"] { attributes["displayName"] = name }
            let purpose = Interaction.CodePurpose.signUp(email: email, password: password, attributes: attributes)
            return try await sendCode(interaction, to: AuthMethod(address: email), for: purpose)
        } catch let error as ProtocolError {
            return try await showAgain(interaction, error)
        }
    }
}
