import Foundation
import HTTPTypes

/// `/api1` and `/api2`: web APIs that accept this provider's access tokens.
struct ProtectedAPI: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange) async throws -> Reply {
        let name = exchange.rest.first ?? ""
        guard let resource = state.seed.tenants.flatMap(\.resources).first(where: { $0.path == name }) else {
            throw ProtocolError.unknownRoute
        }
        guard let token = exchange.bearer else { throw ProtocolError.accessToken(nil) }
        guard let claims = try await TokenVerifier(state: state).claims(of: token)?.claims,
            claims["aud"]?.text == resource.audience
        else { throw ProtocolError.accessToken("invalid_token") }
        let held = Set((claims["scp"]?.text ?? "").split(separator: " ").map(String.init))
        let isRead = exchange.method == .get || exchange.method == .head
        let accepted = isRead ? resource.scopes.map(\.value) : resource.scopes.suffix(1).map(\.value)
        guard !held.isDisjoint(with: accepted) else {
            throw ProtocolError.accessToken("insufficient_scope", status: 403)
        }
        return try await answer(exchange.rest.dropFirst().first ?? "", name, claims)
    }

    private func answer(_ variant: String, _ name: String, _ claims: Claims) async throws -> Reply {
        switch variant {
        case "notfound": throw ProtocolError.unknownRoute
        case "error": return try .json(["error": "server_error"], status: 500)
        case "text": return Reply(headers: ["content-type": "text/plain"], body: Array("all is well\n".utf8))
        case "broken": return Reply(headers: ["content-type": "application/json"], body: Array(#"{"tasks": ["#.utf8))
        case "array": return try .json(["first", "second"])
        case "slow": try await Task.sleep(for: .seconds(60))
        default: break
        }
        return try .json([
            "api": .string(name), "user": claims["oid"] ?? .null, "client": claims["azp"] ?? .null,
            "scopes": claims["scp"] ?? .null,
        ])
    }
}
