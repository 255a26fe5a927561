import Foundation
import HTTPTypes

/// `authorize`: begins a journey through the pages or answers one of its forms.
struct AuthorizeEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let journey = Journey(state: state, exchange: exchange, realm: realm)
        if let interaction = exchange.form["interaction"] { return try await journey.post(interaction) }
        let parameters = exchange.method == .post ? exchange.form : exchange.query
        let client = try realm.client(parameters["client_id"])
        // Until both are known to be good, nothing is sent to the redirect URI (RFC 6749 section 4.1.2.1).
        guard let redirectURI = parameters["redirect_uri"], client.allowsRedirect(to: redirectURI) else {
            throw ProtocolError.invalidParameter("redirect_uri")
        }
        let mode = parameters["response_mode"] ?? "query"
        guard ["query", "fragment", "form_post"].contains(mode) else {
            throw ProtocolError.invalidParameter("response_mode")
        }
        do {
            let request = try AuthorizationRequest(
                parameters,
                realm: realm,
                client: client,
                redirectURI: redirectURI,
                responseMode: mode
            )
            return try await begin(journey, request)
        } catch let error as ProtocolError {
            return AuthorizationResponse(redirectURI: redirectURI, mode: mode, state: parameters["state"])
                .failure(error.error, error.text)
        }
    }

    private func begin(_ journey: Journey, _ request: AuthorizationRequest) async throws -> Reply {
        let goal = Interaction.Goal.authorize(request)
        let client = request.client
        if request.prompt.contains("create") {
            return try await journey.begin(goal, at: .signUp, client: client) {
                Page.signUp($0, journey.signUpAttributes($0)).reply()
            }
        }
        if request.realm.policy?.kind == .resetPassword, !request.prompt.contains("none") {
            return try await journey.begin(goal, at: .resetAddress, client: client) { Page.resetAddress($0).reply() }
        }
        let accounts = await usableAccounts(journey, request)
        if request.prompt.contains("none") { return try await silent(journey, request, accounts) }
        let users = try await accounts.users(state)
        if request.prompt.contains("login") || users.isEmpty {
            return try await journey.begin(goal, at: .signIn, client: client) {
                Page.signIn($0, username: request.loginHint ?? "").reply()
            }
        }
        if request.prompt.contains("select_account") || users.count > 1 {
            return try await journey.begin(goal, at: .chooseAccount, client: client) {
                Page.accounts($0, users).reply()
            }
        }
        let account = accounts[0]
        return try await journey.begin(goal, at: .signIn, client: client) { try await journey.proceed($0, account) }
    }

    /// The accounts of this browser that the request's hint and age allow.
    private func usableAccounts(_ journey: Journey, _ request: AuthorizationRequest) async -> [SignedIn] {
        let cookie = journey.exchange.cookie(Journey.sessionCookie)
        var accounts = await state.browsers.accounts(cookie, in: request.realm.tenant)
        if let age = request.maximumAge {
            let now = state.clock.now
            accounts = accounts.filter { $0.at + TimeInterval(age) > now }
        }
        guard let hint = request.loginHint?.lowercased(), !request.prompt.contains("select_account") else {
            return accounts
        }
        var matching: [SignedIn] = []
        for account in accounts where await state.users.email(of: account.userID) == hint { matching.append(account) }
        return matching
    }

    private func silent(_ journey: Journey, _ request: AuthorizationRequest, _ accounts: [SignedIn]) async throws
        -> Reply
    {
        let response = AuthorizationResponse(request)
        guard let account = accounts.first else {
            return response.failure("login_required", "Nobody is signed in here. Ask without prompt=none.")
        }
        guard accounts.count == 1 else {
            return response.failure("account_selection_required", "Several people are signed in. Send a login_hint.")
        }
        let consented = await state.users.consents(of: account.userID, to: request.client)
        guard request.scopes.missingConsent(consented).isEmpty else {
            return response.failure("consent_required", "Nobody agreed to the scopes. Ask without prompt=none.")
        }
        let isProfile = request.realm.policy.map { $0.kind != .signUpOrSignIn } ?? false
        let needsMore = request.client.secondFactor == .always || !request.contexts.isEmpty
        guard !isProfile, !needsMore || account.hasSecondFactor else {
            return response.failure("interaction_required", "A page must be shown. Ask without prompt=none.")
        }
        return await response.success(state.grants.issueCode(request.code(for: account, state)))
    }
}
