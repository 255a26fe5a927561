import OAuth
import TokenStorage

func newestToken(after response: TokenResponse, for request: TokenRequest) throws -> AccessToken? {
    let store = try TokenStore.open(at: StorePath("sessions/tokenstore.db"))
    try store.save(response, for: request)  // one commit, on disk when it returns
    let policy = AccountPolicy.userFlow("B2C_1_SignIn").and(.mostRecentlyUsed)
    guard let account = try store.account(matching: policy) else { return nil }
    let query = TokenQuery(account: account.id, clientID: request.clientID, scope: request.scope)
    guard case .usable(let token, _) = try store.cachedToken(for: query) else { return nil }
    return token
}
