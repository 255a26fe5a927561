import NativeAuthentication
import OAuth

/// The error that a request for an access token ends with.
func accessTokenFailure(
    _ account: NativeAuthUserAccount,
    _ scope: Scope = Scope([]),
    forcesRefresh: Bool = false
) async throws -> RetrieveAccessTokenError {
    try await failure { () throws(RetrieveAccessTokenError) in
        try await account.accessToken(for: scope, forcesRefresh: forcesRefresh)
    }
}
