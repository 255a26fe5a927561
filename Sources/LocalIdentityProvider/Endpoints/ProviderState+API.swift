import HTTPTypes

/// `/api1` and `/api2`: web APIs that accept this provider's access tokens.
extension ProviderState {
    func api(_ exchange: Exchange) async throws -> Reply {
        let name = exchange.rest[0]
        guard let resource = seed.tenants.flatMap(\.resources).first(where: { $0.path == name }) else {
            throw ProtocolError.unknownRoute
        }
        guard let token = exchange.authorization("bearer") else { throw ProtocolError.accessToken(nil) }
        guard let claims = try await claims(of: token)?.claims, claims["aud"]?.text == resource.audience else {
            throw ProtocolError.accessToken("invalid_token")
        }
        let isRead = exchange.method == .get || exchange.method == .head
        let accepted = (isRead ? resource.scopes : resource.scopes.suffix(1)).map(\.value)
        guard !claims.scopes.isDisjoint(with: accepted) else {
            throw ProtocolError.accessToken("insufficient_scope", status: 403)
        }
        switch exchange.rest.dropFirst().first {
        case "notfound": throw ProtocolError.unknownRoute
        case "error": return try .json(["error": "server_error"], status: 500)
        case "text": return Reply(headers: ["content-type": "text/plain"], body: Array("all is well\n".utf8))
        case "broken": return Reply(headers: ["content-type": "application/json"], body: Array(#"{"tasks": ["#.utf8))
        case "array": return try .json(["first", "second"])
        case "slow": try await Task.sleep(for: .seconds(60))
        default: break
        }
        return try .object([
            "api": .string(name), "user": claims["oid"], "client": claims["azp"], "scopes": claims["scp"],
        ])
    }
}
