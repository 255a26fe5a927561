/// One step of a person's way through the pages.
struct Journey: Sendable {
    static let browserCookie = "idp_browser"
    static let sessionCookie = "idp_session"

    let state: ProviderState
    let exchange: Exchange
    let realm: Realm
    /// Ties forms to this browser; made up at the first visit.
    let browser: String

    var form: Parameters { exchange.form }
    var tenant: Tenant { realm.tenant }

    init(state: ProviderState, exchange: Exchange, realm: Realm) {
        self.state = state
        self.exchange = exchange
        self.realm = realm
        browser = exchange.cookie(Self.browserCookie) ?? RandomToken.make()
    }

    /// The people signed in at this browser.
    var accounts: [SignedIn] {
        get async { await state.browsers.accounts(exchange.cookie(Self.sessionCookie), in: tenant) }
    }

    /// Opens a journey at a page, or beyond it with `proceed`, and makes sure that the browser has its cookie.
    func begin(
        _ goal: Interaction.Goal,
        at step: Interaction.Step,
        client: Client?,
        filled: String = "",
        proceed: (@Sendable (Interaction) async throws -> Reply)? = nil
    ) async throws -> Reply {
        let interaction = await state.browsers.begin(goal, step: step, realm: realm, client: client, cookie: browser)
        var reply =
            if let proceed {
                try await proceed(interaction)
            } else {
                try await page(interaction, filled: filled).reply()
            }
        if exchange.cookie(Self.browserCookie) == nil { reply.cookies.append(cookie(Self.browserCookie, browser)) }
        return reply
    }

    func cookie(_ name: String, _ value: String) -> String {
        let secure = state.baseURL.hasPrefix("https:") ? "; Secure" : ""
        return "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax\(secure)"
    }

    func show(_ interaction: Interaction, at step: Interaction.Step, message: String? = nil) async throws -> Reply {
        var interaction = interaction
        interaction.step = step
        await state.browsers.update(interaction)
        return try await page(interaction, message: message).reply()
    }

    /// Shows the page once more with what was wrong.
    func showAgain(_ interaction: Interaction, _ error: ProtocolError) async throws -> Reply {
        try await page(interaction, message: error.text).reply(outcome: error.description)
    }

    /// The page of a journey's step; `filled` stands in its first field.
    func page(_ interaction: Interaction, filled: String = "", message: String? = nil) async throws -> Page {
        let page: Page =
            switch interaction.step {
            case .signIn: .signIn(username: filled)
            case .chooseAccount(let users): .accounts(users)
            case .code(let method, _): .code(sentTo: method.target)
            case .signUp: .signUp(signUpAttributes(interaction))
            case .resetAddress: .resetAddress
            case .resetPassword: .newPassword
            case .editProfile(let signedIn):
                .profile(try await state.users.user(signedIn.userID), profileNames)
            case .consent(_, let scopes): .consent(interaction.client?.displayName ?? "", scopes)
            case .deviceCode: .deviceCode(filled)
            case .approveDevice(let signedIn):
                .approveDevice(
                    client: interaction.client?.displayName ?? "The device",
                    user: try await state.users.user(signedIn.userID)
                )
            }
        return page.form(of: interaction, message: message)
    }

    func post(_ id: String) async throws -> Reply {
        let interaction = try await state.browsers.interaction(id, cookie: exchange.cookie(Self.browserCookie))
        guard interaction.realm.issuer == realm.issuer else { throw ProtocolError.expiredToken }
        let action = form["action"] ?? (form["account"] == nil ? "" : "choose")
        if action == "cancel" { return try await cancel(interaction) }
        return switch interaction.step {
        case .signIn: try await signIn(interaction, action)
        case .chooseAccount: try await choose(interaction, action)
        case .code(let method, let purpose): try await enterCode(interaction, action, method, purpose)
        case .signUp: try await signUp(interaction)
        case .resetAddress: try await resetAddress(interaction)
        case .resetPassword(let userID): try await resetPassword(interaction, userID)
        case .editProfile(let signedIn): try await editProfile(interaction, signedIn)
        case .consent(let signedIn, let scopes): try await consent(interaction, action, signedIn, scopes)
        case .deviceCode: try await deviceCode(interaction)
        case .approveDevice(let signedIn): try await approveDevice(interaction, action, signedIn)
        }
    }

    /// Ends a journey, unless another request did so first.
    func end(_ interaction: Interaction) async throws {
        guard await state.browsers.end(interaction) else { throw ProtocolError.expiredToken }
    }

    private func cancel(_ interaction: Interaction) async throws -> Reply {
        try await end(interaction)
        switch interaction.goal {
        case .authorize(let request):
            return request.response.failure("access_denied", "The person cancelled.")
        case .device(let userCode):
            if let userCode { _ = await state.grants.decide(userCode, .denied) }
            return Page.done("Cancelled", "The device was not connected. You can close this page.")
        }
    }
}
