import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SQLite
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
        let request = try TokenRequest(
            clientID: client,
            authority: authority,
            scope: scope,
            grant: Grant(rawValue: "password")
        )
        try store.save(response, for: request)
        if count > 0, client != Self.client { provider.audit.reset() }
    }

    /// Stores a refresh token of a sibling client that the whole family may use.
    func addFamilyToken(_ secret: String, client: String = "sibling-app") throws {
        let info = account.homeAccountID.split(separator: ".")
        let text = #"{"uid":"\#(info[0])","utid":"\#(info[1])"}"#
        var response = TokenResponse()
        response.clientInfo = Base64URL.encode(Array(text.utf8))
        response.refreshToken = Secret(secret)
        response.familyID = "1"
        let request = try TokenRequest(
            clientID: client,
            authority: authority,
            scope: Self.toDo,
            grant: Grant(rawValue: "password")
        )
        try store.save(response, for: request)
    }

    /// Changes the file behind the store's back.
    func sql(_ statement: String) throws {
        let connection = try Connection(path: store.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute(statement)
    }

    /// Whether the bytes of `secret` are in a file of the store.
    func files(contain secret: Secret) throws -> Bool {
        let needle = Data(secret.reveal().utf8)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            if try Data(contentsOf: URL(filePath: directory.file(name))).range(of: needle) != nil { return true }
        }
        return false
    }
}
