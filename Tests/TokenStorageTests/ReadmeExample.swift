import OAuth
import TokenStorage

func token(after response: TokenResponse, for request: TokenRequest) throws -> AccessToken? {
    let store = try TokenStore.open(at: StorePath("sessions/tokenstore.db"))
    // One commit, on disk when it returns.
    guard let account = try store.save(response, for: request).account else { return nil }
    let query = TokenQuery(account: account, clientID: request.clientID, scope: request.scope)
    guard case .usable(let token, _) = try store.cachedToken(for: query) else { return nil }
    return token
}
