import TokenStoreKit

/// The person who uses the app.
actor CurrentUser {
    private let app: PublicClientApplication
    private let api = WebAPI(url: "https://api.example.com/tasks", scope: "read write")
    private(set) var session: UserSession?

    init(_ app: PublicClientApplication) { self.app = app }

    /// At launch: finds the session of the last time, without a prompt.
    func restore() async throws { session = try await app.sessions().first }

    func signIn() async throws { session = try await app.signIn(scope: api.scope) }

    func tasks() async throws -> JSONValue? {
        guard let session else { return nil }
        do {
            return try await session.api(api).json()
        } catch let error as AcquisitionError where error.needsInteraction {
            // The issuer ended the session, or asks for more than a refresh can give.
            try await session.acquireToken(for: api.scope, after: error)
            return try await session.api(api).json()
        }
    }

    func signOut() async throws {
        try await session?.signOut()
        session = nil
    }
}
