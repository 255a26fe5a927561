import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TokenManagement
import TokenStorage

extension Scene {
    /// Signs the same person in again, to another client or for another scope.
    func signIn(client: String = client, scope: Scope = toDo) async throws {
        var response = try await Login(provider: provider, transport: Self.transport)
            .response(client: Self.client, scope: scope)
        let count = provider.audit.count(of: "token")
        if client != Self.client { response.idToken = nil }
        try await store.save(response, for: wire(client: client, scope: scope))
        if count > 0, client != Self.client { provider.audit.reset() }
    }

    /// Stores a refresh token of a sibling client that the whole family may use.
    func addFamilyToken(_ secret: String, client: String = "sibling-app") throws {
        var response = TokenResponse(account: account.homeAccountID)
        response.refreshToken = Secret(secret)
        response.familyID = "1"
        try store.save(response, for: wire(client: client))
    }

    /// Stores an account of a user flow with a refresh token that the provider does not know.
    func addAccount(policy: String) throws -> (Account.ID, at: Authority) {
        let tenant = account.homeAccountID.split(separator: ".").last ?? ""
        var response = TokenResponse(account: "\(UUID().uuidString)-\(policy.lowercased()).\(tenant)")
        response.refreshToken = Secret("rt-\(policy)")
        let authority = try Authority(parsing: "\(provider.baseURL)/tfp/fabrikvine.onmicrosoft.com/\(policy)")
        guard let account = try store.save(response, for: wire(at: authority)).account else {
            throw ExpectationFailure("an account")
        }
        return (account, authority)
    }

    /// A sign-in as the store sees it.
    func wire(client: String = client, scope: Scope = toDo, at authority: Authority? = nil) throws -> TokenRequest {
        TokenRequest(
            clientID: client,
            authority: try authority ?? self.authority,
            scope: scope,
            grant: Grant(rawValue: "password")
        )
    }

    /// Whether the bytes of `secret` are in a file of the store.
    func files(contain secret: Secret) throws -> Bool {
        let needle = Data(secret.reveal().utf8)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            if try Data(contentsOf: URL(filePath: directory.file(name))).holds(needle) { return true }
        }
        return false
    }
}

extension TokenResponse {
    /// An answer that names an account and nothing else.
    fileprivate init(account homeAccountID: String) {
        let parts = homeAccountID.split(separator: ".")
        self.init()
        clientInfo = Base64URL.encode(Array(#"{"uid":"\#(parts[0])","utid":"\#(parts[1])"}"#.utf8))
    }
}
