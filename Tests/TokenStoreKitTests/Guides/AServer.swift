import TokenStoreKit

/// Calls an API with the tokens of a server's users.
struct UserTasks: Sendable {
    private let manager: TokenManager
    private let api = WebAPI(url: "https://api.example.com/tasks", scope: "read")

    /// One manager for the whole server: its callers share refreshes, and so do other processes with the same store.
    init(storeAt path: StorePath, key: KeySource = .file) async throws {
        let store = try await TokenStore.open(at: path, options: StoreOptions(keySource: key))
        manager = TokenManager(store: store, clientID: "my-server", transport: AsyncHTTPTransport())
    }

    /// `user` is what the server keeps in the session that its cookie names; it is not a secret.
    func tasks(of user: Account.ID) async throws -> JSONValue {
        try await manager.authorized(api, account: user).json()
    }
}
