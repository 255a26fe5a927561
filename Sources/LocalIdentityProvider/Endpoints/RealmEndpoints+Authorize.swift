import Foundation
import HTTPTypes

/// `authorize`: begins a journey through the pages or answers one of its forms.
extension RealmEndpoints {
    func authorize() async throws -> Reply {
        if let interaction = exchange.form["interaction"] { return try await journey.post(interaction) }
        let client = try realm.client(parameters["client_id"])
        // Until both are known to be good, nothing is sent to the redirect URI (RFC 6749 section 4.1.2.1).
        guard let redirectURI = parameters["redirect_uri"], client.allowsRedirect(to: redirectURI) else {
            throw ProtocolError.invalidParameter("redirect_uri")
        }
        let mode = parameters["response_mode"] ?? "query"
        guard ["query", "fragment", "form_post"].contains(mode) else {
            throw ProtocolError.invalidParameter("response_mode")
        }
        let response = AuthorizationResponse(redirectURI: redirectURI, mode: mode, state: parameters["state"])
        do {
            return try await begin(.init(parameters, realm: realm, client: client, response: response))
        } catch let error as ProtocolError {
            return response.failure(error.error, error.text)
        }
    }

    private func begin(_ request: AuthorizationRequest) async throws -> Reply {
        let prompt = request.prompt
        if prompt.contains("create") { return try await begin(request, at: .signUp) }
        if realm.policy?.kind == .resetPassword, !prompt.contains("none") {
            return try await begin(request, at: .resetAddress)
        }
        let accounts = await usableAccounts(request)
        if prompt.contains("none") { return try await silent(request, accounts) }
        let users = try await journey.users(of: accounts)
        if prompt.contains("login") || users.isEmpty { return try await begin(request, at: .signIn) }
        if prompt.contains("select_account") || users.count > 1 {
            return try await begin(request, at: .chooseAccount(users))
        }
        let journey = journey
        return try await journey.begin(.authorize(request), at: .signIn, client: request.client) {
            try await journey.proceed($0, accounts[0])
        }
    }

    private func begin(_ request: AuthorizationRequest, at step: Interaction.Step) async throws -> Reply {
        let filled = request.loginHint ?? ""
        return try await journey.begin(.authorize(request), at: step, client: request.client, filled: filled)
    }

    /// The accounts of this browser that the request's hint and age allow.
    private func usableAccounts(_ request: AuthorizationRequest) async -> [SignedIn] {
        var accounts = await journey.accounts
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

    private func silent(_ request: AuthorizationRequest, _ accounts: [SignedIn]) async throws -> Reply {
        let response = request.response
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
        return await response.success(state.grants.issueCode(for: request, account))
    }
}
