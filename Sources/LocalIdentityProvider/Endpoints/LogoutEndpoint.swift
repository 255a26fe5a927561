import HTTPTypes

/// End session (OpenID Connect RP-Initiated Logout).
struct LogoutEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let parameters = exchange.method == .post ? exchange.form : exchange.query
        if let cookie = exchange.cookie(Journey.sessionCookie) { await state.browsers.forget(cookie, in: realm.tenant) }
        guard let uri = parameters["post_logout_redirect_uri"] else {
            return Page.done("Signed out", "You are signed out at this browser.")
        }
        guard realm.tenant.clients.contains(where: { $0.allowsRedirect(to: uri) }) else {
            throw ProtocolError.invalidParameter("post_logout_redirect_uri")
        }
        let state = parameters["state"].map {
            (uri.contains("?") ? "&" : "?") + "state=" + AuthorizationResponse.encode($0)
        }
        return .found(uri + (state ?? ""), outcome: "signed out")
    }
}
