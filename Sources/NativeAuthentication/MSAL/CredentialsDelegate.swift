/// Hears of an access token.
@MainActor
public protocol CredentialsDelegate: AnyObject, Sendable {
    func onAccessTokenRetrieveError(error: RetrieveAccessTokenError)
    func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult)
}
