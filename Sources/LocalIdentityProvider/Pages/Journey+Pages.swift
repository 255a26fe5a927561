import OAuth

extension Journey {
    func page(_ interaction: Interaction, message: String? = nil) async throws -> Page {
        var page = try await content(interaction)
        page.message = message
        page.interaction = interaction.id
        return page
    }

    private func content(_ interaction: Interaction) async throws -> Page {
        let client = interaction.client?.displayName ?? "The device"
        switch interaction.step {
        case .signIn: return signInPage(interaction)
        case .chooseAccount(let users):
            return Page(
                title: "Choose an account",
                content: choices(users),
                buttons: ["other": "Use another account"]
            )
        case .federated(let provider):
            let users = await state.users.users(of: provider, in: tenant)
            let note: HTML = "<p>This page stands in for \(provider). No password is asked for.</p>"
            return Page(title: "Sign in at \(provider)", content: "\(note)\(choices(users))")
        case .signOut:
            let content: HTML = "<p>Do you want to sign out at this browser?</p>"
            return Page(title: "Sign out", content: content, buttons: ["sign_out": "Sign out"])
        case .code(let method, _):
            return Page(
                title: "Enter the code",
                content: "<p>A code was sent to \(method.masked).</p>",
                fields: [Page.Field(name: "code", label: "Code", hint: "one-time-code")],
                buttons: ["submit_code": "Continue", "resend": "Send another"]
            )
        case .signUp: return signUpPage(interaction)
        case .resetAddress:
            let buttons: KeyValuePairs = ["send_reset": "Send a code"]
            return Page(title: "Reset your password", fields: [address(interaction)], buttons: buttons)
        case .resetPassword:
            let field = password("New password", hint: "new-password")
            return Page(title: "New password", fields: [field], buttons: ["set_password": "Save"])
        case .editProfile(let signedIn): return profilePage(try await state.users.user(signedIn.userID))
        case .consent(_, let scopes):
            let list = scopes.map { scope -> HTML in "<li>\(scope)</li>" }
            let content: HTML = "<p>\(client) asks for:</p><ul>\(list)</ul>"
            return Page(title: "Permissions", content: content, buttons: ["accept": "Accept"])
        case .deviceCode:
            let code = exchange.parameters["user_code"] ?? ""
            let field = Page.Field(name: "user_code", label: "Code shown on the device", value: code)
            return Page(title: "Connect a device", fields: [field], buttons: ["enter_code": "Continue"])
        case .approveDevice(let signedIn):
            let user = try await state.users.user(signedIn.userID)
            let list = try await scopesOfDevice(interaction).map { scope -> HTML in "<li>\(scope)</li>" }
            let question: HTML = "<p>Let \(client) act for \(user.name) (\(user.email))? It asks for:</p>"
            let content: HTML = "\(question)<ul>\(list)</ul>"
            return Page(title: "Connect a device", content: content, buttons: ["approve": "Approve"])
        }
    }

    /// What the device asks for, to which approving it agrees; nothing once it waits no more.
    private func scopesOfDevice(_ interaction: Interaction) async throws -> [String] {
        guard case .device(let userCode?) = interaction.goal,
            let device = await state.grants.device(withUserCode: userCode, at: realm)
        else { return [] }
        let scopes = try ScopeRequest(device.scope, tenant: tenant)
        return scopes.openID + scopes.resourceScopes
    }

    private func choices(_ users: [User]) -> HTML {
        let buttons = users.map { user -> HTML in
            "<button class=\"account\" name=\"account\" value=\"\(user.id)\">\(user.name) (\(user.email))</button>"
        }
        return "\(buttons)"
    }

    private func signInPage(_ interaction: Interaction) -> Page {
        let others = tenant.identityProviders.map { provider -> HTML in
            "<button class=\"account\" name=\"provider\" value=\"\(provider)\">Sign in at \(provider)</button>"
        }
        return Page(
            title: "Sign in",
            fields: [address(interaction), password("Password", hint: "current-password")],
            buttons: [
                "sign_in": "Sign in", "send_code": "Send me a code", "sign_up_now": "Sign up now",
                "forgot": "Forgot your password?",
            ],
            more: "\(others)"
        )
    }

    private func signUpPage(_ interaction: Interaction) -> Page {
        let name = Page.Field(name: "displayName", label: "Display name", value: typed("displayName"), hint: "name")
        let asked = attributes(interaction).map { Page.Field(name: $0.name, label: $0.name, value: typed($0.name)) }
        let fields = [address(interaction), password("New password", hint: "new-password"), name] + asked
        return Page(title: "Sign up", fields: fields, buttons: ["sign_up": "Create"])
    }

    private func profilePage(_ user: User) -> Page {
        let fields = profileNames.map {
            Page.Field(name: $0, label: $0, value: exchange.form[$0] ?? user.attributes[$0] ?? "")
        }
        let content: HTML = "<p>\(user.email)</p>"
        return Page(title: "Edit profile", content: content, fields: fields, buttons: ["save": "Save"])
    }

    private func address(_ interaction: Interaction) -> Page.Field {
        var value = typed("username")
        if value.isEmpty, case .authorize(let request) = interaction.goal { value = request.loginHint ?? "" }
        return Page.Field(name: "username", label: "E-mail", type: "email", value: value, hint: "username")
    }

    private func password(_ label: String, hint: String) -> Page.Field {
        Page.Field(name: "password", label: label, type: "password", hint: hint)
    }

    // MARK: Attributes

    /// What a sign-up asks for beside the display name.
    func attributes(_ interaction: Interaction) -> [AttributeDefinition] {
        let pages = realm.policy?.attributePages ?? interaction.client?.attributePages ?? []
        return pages.joined().map(\.name).filter { $0 != "displayName" }.compactMap(tenant.attribute)
    }

    var profileNames: [String] {
        let names = realm.policy?.attributePages.joined().map(\.name) ?? []
        return ["displayName"] + (names.isEmpty ? ["city", "country"] : names.filter { $0 != "displayName" })
    }

    /// The posted values of these attributes, each of which the tenant must accept.
    func values(of names: [String]) throws -> [String: String] {
        var values: [String: String] = [:]
        for name in names {
            guard let value = exchange.form[name] else { continue }
            values[name] = tenant.attribute(name)?.accepts(.string(value)) == true ? value : nil
            guard values[name] != nil else { throw ProtocolError.attributes([name]) }
        }
        return values
    }
}
