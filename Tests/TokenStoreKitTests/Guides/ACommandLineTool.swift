import TokenStoreKit

/// Signs in on another device, and keeps the session for the next run.
func signIn(to issuer: String, storeAt path: StorePath = .standard) async throws -> Account {
    let store = try await TokenStore.open(at: path)
    let device = try await DeviceCodeFlow(clientID: "my-tool", transport: AsyncHTTPTransport())
        .begin("read", at: Authority(issuer: issuer))
    print("open \(device.authorization.verificationURI) and enter \(device.authorization.userCode)")
    let tokens = try await device.tokens()
    return try await store.save(tokens).account
}
