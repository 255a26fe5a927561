/// A request of native authentication whose client may make it.
struct NativeRequest: Sendable {
    let exchange: Exchange
    let realm: Realm
    let client: Client

    var parameters: Parameters { exchange.form }

    init(_ exchange: Exchange, _ realm: Realm, _ state: ProviderState) throws {
        self.exchange = exchange
        self.realm = realm
        client = try realm.client(exchange.form["client_id"])
        guard realm.policy == nil, client.isNativeEnabled else {
            throw ProtocolError(
                "invalid_client",
                ErrorNumber.nativeDisabled,
                "The client may not use native authentication. Enable it in the seed, or use the tenant's authority.",
                suberror: "nativeauthapi_disabled"
            )
        }
    }

    /// The methods the client can handle; `redirect` must be among them.
    func challengeTypes() throws -> Set<String> {
        let types = Set(try parameters.required("challenge_type").split(separator: " ").map(String.init))
        guard types.contains("redirect") else {
            throw ProtocolError.invalidRequest(
                ErrorNumber.redirectMissing,
                "The challenge_type list must include the 'redirect' type."
            )
        }
        return types
    }

    /// Announced under either of two names, with either of two separators.
    var capabilities: Set<String> {
        let text = parameters["capabilities"] ?? parameters["capability"] ?? ""
        return Set(text.split { $0 == " " || $0 == "," }.map(String.init))
    }

    func continuationToken() throws -> String { try parameters.required("continuation_token") }
}
