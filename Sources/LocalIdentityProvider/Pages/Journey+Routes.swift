import Foundation
import HTTPTypes

/// Where journeys begin and sessions end.
extension Journey {
    typealias Signed = (account: SignedIn, user: User)

    /// Who is signed in at this browser, most recent first; those gone or disabled are left out.
    ///
    /// A sign-in from before a password reset does not count either.
    func people() async throws -> [Signed] {
        var people: [Signed] = []
        for account in await state.browsers.accounts(exchange.cookie(Self.sessionCookie), in: tenant) {
            guard await !state.hasEnded(account) else { continue }
            do {
                people.append((account, try await state.users.user(account.userID)))
            } catch is ProtocolError {
                continue  // not offered any more
            }
        }
        return people
    }

    func authorize() async throws -> Reply {
        if let interaction = exchange.form["interaction"] { return try await post(interaction) }
        let parameters = exchange.parameters
        let client = try realm.client(parameters["client_id"])
        // Until both are known to be good, nothing is sent to the redirect URI (RFC 6749 section 4.1.2.1).
        guard let uri = parameters["redirect_uri"], client.allowsRedirect(to: uri) else {
            throw ProtocolError.invalidParameter("redirect_uri")
        }
        let mode = parameters["response_mode"] ?? "query"
        guard ["query", "fragment", "form_post"].contains(mode) else {
            throw ProtocolError.invalidParameter("response_mode")
        }
        let response = AuthorizationReply(redirectURI: uri, mode: mode, state: parameters["state"])
        do {
            let request = try AuthorizationParameters(parameters, realm: realm, client: client, response: response)
            let people = try await suitable(request)
            if request.prompt.contains("none") { return try await silent(request, people.map(\.account)) }
            let step = firstStep(request, people.map(\.user))
            return try await begin(.authorize(request), at: step, client, as: people.first?.account)
        } catch let error as ProtocolError {
            return response.failure(error.error, error.text)
        }
    }

    /// The page that a journey opens at; nil when the one person who is signed in needs none yet.
    private func firstStep(_ request: AuthorizationParameters, _ users: [User]) -> Interaction.Step? {
        let prompt = request.prompt
        if prompt.contains("create") { return .signUp }
        if realm.policy?.kind == .resetPassword { return .resetAddress }
        if prompt.contains("login") || users.isEmpty {
            let provider = tenant.identityProviders.first { $0 == request.domainHint }
            return provider.map { .federated($0) } ?? .signIn
        }
        return prompt.contains("select_account") || users.count > 1 ? .chooseAccount(users) : nil
    }

    /// The people of this browser whom the request's hint and age allow.
    private func suitable(_ request: AuthorizationParameters) async throws -> [Signed] {
        let oldest = request.maximumAge.map { state.clock.now - TimeInterval($0) } ?? .distantPast
        let hint = request.prompt.contains("select_account") ? nil : request.loginHint
        return try await people().filter { $0.account.at > oldest && $0.user.email == hint ?? $0.user.email }
    }

    private func silent(_ request: AuthorizationParameters, _ accounts: [SignedIn]) async throws -> Reply {
        let response = request.response
        guard let account = accounts.first else {
            return response.failure("login_required", "No account is signed in here. Ask without prompt=none.")
        }
        guard accounts.count == 1 else {
            return response.failure("account_selection_required", "Several people are signed in. Send a login_hint.")
        }
        let consented = await state.users.consents(of: account.userID, to: request.client)
        guard request.scopes.missingConsent(consented).isEmpty else {
            return response.failure("consent_required", "The user did not consent. Ask without prompt=none.")
        }
        let needsMore = request.client.secondFactor == .always || !request.contexts.isEmpty
        guard realm.policy?.kind ?? .signUpOrSignIn == .signUpOrSignIn, !needsMore || account.hasSecondFactor else {
            return response.failure("interaction_required", "A page must be shown. Ask without prompt=none.")
        }
        return await response.success(state.grants.issueCode(for: request, account))
    }

    /// The page where a person connects a device (RFC 8628 section 3.3).
    func device() async throws -> Reply {
        if let interaction = exchange.form["interaction"] { return try await post(interaction) }
        return try await begin(.device(userCode: nil), at: .deviceCode, nil)
    }
}
