import Foundation

/// A person's way through the pages: `authorize`, `device` and `logout` (L12).
struct Journey: Sendable {
    private static let browserCookie = "idp_browser"
    static let sessionCookie = "idp_session"

    let state: ProviderState
    let exchange: Exchange
    let realm: Realm
    private let newBrowser = RandomToken.make()

    var tenant: Tenant { realm.tenant }
    /// Ties forms to this browser; made up at the first visit.
    private var browser: String { exchange.cookie(Self.browserCookie) ?? newBrowser }

    /// What the person entered in a field.
    func typed(_ name: String) -> String { exchange.form[name] ?? "" }

    /// Opens a journey at a page or, without one, beyond the pages that `account` needs no more.
    func begin(_ goal: Interaction.Goal, at step: Interaction.Step?, _ client: Client?, as account: SignedIn? = nil)
        async throws -> Reply
    {
        let interaction = Interaction(
            browser: Fingerprint(browser),
            realm: realm,
            client: client,
            goal: goal,
            step: step ?? .signIn,
            expires: state.clock.now + Lifetime.flow
        )
        await state.browsers.begin(interaction)
        var reply: Reply
        if step == nil, let account {
            reply = try await proceed(interaction, account)
        } else {
            reply = try await page(interaction).reply()
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

    /// Answers a form; a refused form is shown once more, with the reason.
    func post(_ id: String) async throws -> Reply {
        let interaction = try await state.browsers.interaction(id, cookie: exchange.cookie(Self.browserCookie))
        guard interaction.realm.issuer == realm.issuer else { throw ProtocolError.expiredToken }
        let action = exchange.form["action"] ?? ""
        if action == "cancel" { return try await cancel(interaction) }
        if let signedIn = interaction.step.signedIn, await state.hasEnded(signedIn) { throw ProtocolError.expiredToken }
        do {
            return try await answer(interaction, action)
        } catch let error as ProtocolError where error != .expiredToken {
            return try await page(interaction, message: error.text).reply(outcome: error.description)
        }
    }

    private func answer(_ interaction: Interaction, _ action: String) async throws -> Reply {
        switch interaction.step {
        case .signIn: try await signIn(interaction, action)
        case .federated(let provider): try await federated(interaction, provider)
        case .chooseAccount: try await choose(interaction)
        case .code(let method, let purpose): try await enterCode(interaction, action, method, purpose)
        case .signUp: try await signUp(interaction)
        case .resetAddress: try await resetAddress(interaction)
        case .resetPassword(let userID): try await resetPassword(interaction, userID)
        case .editProfile(let signedIn): try await editProfile(interaction, signedIn)
        case .consent(let signedIn, let scopes): try await consent(interaction, action, signedIn, scopes)
        case .deviceCode: try await deviceCode(interaction)
        case .approveDevice(let signedIn): try await approveDevice(interaction, action, signedIn)
        case .signOut: try await confirmSignOut(interaction, action)
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
            // In the words of Azure AD B2C, whose code tells it from a refusal.
            return request.response.failure("access_denied", "AADB2C90091: The user has cancelled.")
        case .device(let userCode):
            if let userCode { _ = await state.grants.decide(userCode, .denied) }
            return Page.done("Cancelled", "The device was not connected. You can close this page.")
        case .logout: return Page.done("Cancelled", "You are still signed in. You can close this page.")
        }
    }
}
