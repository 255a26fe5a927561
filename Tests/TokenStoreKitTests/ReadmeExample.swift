import TokenStoreKit

func makeApp() throws -> PublicClientApplication { try .init(clientID: "my-app", issuer: "https://login.example.com") }
func tasks(of app: PublicClientApplication, at url: String) async throws -> JSONValue {
    let session = if let known = try await app.sessions().first { known } else { try await app.signIn(scope: "read") }
    // From the store, or refreshed; never prompts. AcquisitionError says when a person has to sign in again.
    let token = try await session.accessToken(for: "read")
    print("signed in as", session.account.username, "until", token.expiresAt)
    return try await session.api(WebAPI(url: url, scope: "read")).json()  // session.signOut() ends it
}
