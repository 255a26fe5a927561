public import OAuth
public import TokenStorage

/// What a silent request finds in the store, in a form that compares.
public enum LookupResult: Equatable, Sendable {
    /// An access token: no call to the token endpoint.
    case hit(String)
    /// The refresh tokens to get one with, in order: one call.
    case refresh([String])
    case signIn(CachedToken.Reason)

    public init(_ cached: CachedToken) {
        self =
            switch cached {
            case .usable(let token, isAging: _): .hit(token.secret.reveal())
            case .refreshable(let tokens, extended: _): .refresh(tokens.map { $0.secret.reveal() })
            case .signInRequired(let reason): .signIn(reason)
            }
    }
}

extension TokenResponse {
    /// The response of a body.
    public init(_ body: JSONValue) throws {
        guard let object = body.object else { throw JSONError(reason: "not an object", offset: 0) }
        self.init(object)
    }

    /// The answer of the default token endpoint: a new access token and nothing else.
    public static func new(_ changes: KeyValuePairs<String, JSONValue> = [:]) throws -> TokenResponse {
        let body: JSONValue = ["access_token": "new", "token_type": "Bearer", "expires_in": 3600]
        return try TokenResponse(body.with(changes))
    }

    /// The answer to the default user's sign-in.
    public static func signIn(_ changes: KeyValuePairs<String, JSONValue> = [:], without name: String = "") throws
        -> TokenResponse
    {
        let body: JSONValue = [
            "access_token": "a", "token_type": "Bearer", "expires_in": 3600, "scope": "s3 s1 s2",
            "refresh_token": "r", "client_info": .string(Fixture.clientInfo("u1", "t1")),
            "id_token": .string(Fixture.idToken(Fixture.claims())),
        ]
        return try TokenResponse(body.with(changes, without: name))
    }
}
