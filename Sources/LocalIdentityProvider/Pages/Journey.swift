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

    /// Opens a journey at a page and makes sure that the browser has its cookie.
    func begin(
        _ goal: Interaction.Goal,
        at step: Interaction.Step,
        client: Client?,
        show: @Sendable (Interaction) async throws -> Reply
    ) async throws -> Reply {
        let interaction = await state.browsers.begin(goal, step: step, realm: realm, client: client, cookie: browser)
        var reply = try await show(interaction)
        if exchange.cookie(Self.browserCookie) == nil { reply.cookies.append(cookie(Self.browserCookie, browser)) }
        return reply
    }

    func cookie(_ name: String, _ value: String) -> String {
        let secure = state.baseURL.hasPrefix("https:") ? "; Secure" : ""
        return "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax\(secure)"
    }

    /// Moves a journey to another page.
    func show(_ page: (Interaction) -> Page, _ interaction: Interaction, at step: Interaction.Step) async -> Reply {
        var interaction = interaction
        interaction.step = step
        await state.browsers.update(interaction)
        return page(interaction).reply()
    }

    /// Answers a posted form.
    func post(_ id: String) async throws -> Reply {
        let interaction = try await state.browsers.interaction(id, cookie: exchange.cookie(Self.browserCookie))
        guard interaction.realm.issuer == realm.issuer else { throw ProtocolError.expiredToken }
        let action = form["action"] ?? (form["account"] == nil ? "" : "choose")
        if action == "cancel" { return try await cancel(interaction) }
        switch interaction.step {
        case .signIn: return try await signIn(interaction, action)
        case .chooseAccount: return try await choose(interaction, action)
        case .signInCode(let userID): return try await signInCode(interaction, action, userID)
        case .secondFactor(let signedIn, let method):
            return try await secondFactor(interaction, action, signedIn, method)
        case .signUp: return try await signUp(interaction)
        case .signUpCode(let email, let password, let attributes):
            return try await signUpCode(interaction, action, email, password, attributes)
        case .resetAddress: return try await resetAddress(interaction)
        case .resetCode(let userID): return try await resetCode(interaction, action, userID)
        case .resetPassword(let userID): return try await resetPassword(interaction, userID)
        case .editProfile(let signedIn): return try await editProfile(interaction, signedIn)
        case .consent(let signedIn, let scopes): return try await consent(interaction, action, signedIn, scopes)
        case .deviceCode: return try await deviceCode(interaction)
        case .approveDevice(let signedIn): return try await approveDevice(interaction, action, signedIn)
        }
    }

    private func cancel(_ interaction: Interaction) async throws -> Reply {
        guard await state.browsers.end(interaction) else { throw ProtocolError.expiredToken }
        switch interaction.goal {
        case .authorize(let request):
            return AuthorizationResponse(request).failure("access_denied", "The person cancelled.")
        case .device(let userCode):
            if let userCode { _ = await state.grants.decide(userCode, .denied) }
            return Page.done("Cancelled", "The device was not connected. You can close this page.")
        }
    }
}
