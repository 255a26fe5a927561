import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport
import TokenManagement
import TokenStorage

/// An issuer that answers as a test says, and a store with a person signed in there for `openid read write`.
struct OpenScene: Sendable {
    static let client = "app"

    let issuer: HandmadeIssuer
    let clock = TestClock()
    let store: TokenStore
    let account: Account.ID
    private let directory: TemporaryDirectory

    var authority: Authority { get throws { try Authority(issuer: issuer.issuer) } }

    /// The number of requests to the token endpoint.
    var tokenRequestCount: Int { issuer.forms().count }

    /// Signs in; the access token ends in an hour.
    init(
        idTokenMembers members: [(String, JSONValue)] = [],
        _ change: (inout TokenResponse) -> Void = { _ in }
    ) throws {
        issuer = try HandmadeIssuer()
        directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.program = "tests"
        // What another process of the test has written is to be seen at once.
        options.staleness = .zero
        options.now = { [clock] in clock.date }
        options.followsServerClock = false
        store = try StoreEngine.current.open(in: directory, options: options)
        var response = TokenResponse(accessToken: Secret("at-0"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-0")
        response.tokenType = "bearer"
        response.scope = "openid read write"
        response.idToken = Secret(Self.idToken(issuer, at: clock.seconds, members))
        change(&response)
        let request = TokenRequest(
            clientID: Self.client,
            authority: try Authority(issuer: issuer.issuer),
            scope: "openid read write",
            grant: .authorizationCode
        )
        guard let account = try store.save(response, for: request).account else {
            throw ExpectationFailure("an account")
        }
        self.account = account
    }

    /// Signs the same person in again.
    func signIn(
        refreshToken: String?,
        resource: String? = nil,
        idTokenMembers members: [(String, JSONValue)] = []
    ) throws {
        var response = TokenResponse(accessToken: Secret("at-9"), expiresIn: .seconds(3_600))
        response.refreshToken = refreshToken.map { Secret($0) }
        response.idToken = Secret(idToken(at: clock.seconds, members))
        var request = TokenRequest(
            clientID: Self.client,
            authority: try authority,
            scope: "openid read write",
            grant: .authorizationCode
        )
        request.resource = resource
        try store.save(response, for: request)
    }

    /// Signs another person in, whose access token ends in an hour.
    func addAccount(_ subject: String) throws -> Account.ID {
        var response = TokenResponse(accessToken: Secret("at-\(subject)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-\(subject)")
        response.scope = "openid read write"
        response.idToken = Secret(Self.idToken(issuer, at: clock.seconds, of: subject))
        let request = TokenRequest(
            clientID: Self.client,
            authority: try authority,
            scope: "openid read write",
            grant: .authorizationCode
        )
        guard let account = try store.save(response, for: request).account else {
            throw ExpectationFailure("an account")
        }
        return account
    }

    /// Stores the answer to a refresh with the token, which a program that was held up has only now.
    func storeLateAnswer(to token: StoredRefreshToken) async throws -> SavedTokens {
        var response = TokenResponse(accessToken: Secret("at-1"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-1")
        let request = TokenRequest(
            clientID: Self.client,
            authority: try authority,
            scope: "read",
            grant: .refreshToken
        )
        return try await store.save(response, for: request, refreshing: token)
    }

    func manager(
        _ change: (inout TokenManagerOptions) -> Void = { _ in },
        transport: any HTTPTransport = Scene.transport
    ) -> TokenManager {
        var options = TokenManagerOptions()
        options.pause = { _ in }
        options.limits.head = .seconds(60)
        options.limits.total = .seconds(60)
        change(&options)
        return TokenManager(store: store, clientID: Self.client, transport: transport, options: options)
    }

    func acquire(
        _ scope: Scope = "read",
        _ change: (inout SilentRequest) -> Void = { _ in }
    ) async throws -> TokenResult {
        var request = SilentRequest(account: account, scope: scope)
        // A test that runs beside all others may have to wait for its turn.
        request.timeout = .seconds(300)
        change(&request)
        return try await manager().acquireTokenSilently(request)
    }

    /// The error of a request that fails.
    func failure(_ scope: Scope = "read") async throws -> AcquisitionError? {
        try await acquisitionError { try await acquire(scope) }
    }

    /// The access token has ended.
    func expire() { clock.seconds += 3_601 }

    var refreshTokens: [StoredRefreshToken] {
        get throws { try store.refreshTokens(of: account, client: Self.client) }
    }

    /// An unsigned ID token of the person, issued at a time in Unix seconds.
    static func idToken(
        _ issuer: HandmadeIssuer,
        at issued: Int64,
        of subject: String = "subject",
        _ members: [(String, JSONValue)] = []
    ) -> String {
        let claims = JSONValue.object(
            JSONValue.Object(
                [
                    ("iss", .string(issuer.issuer)), ("sub", .string(subject)), ("aud", .string(client)),
                    ("name", "Mara"),
                    ("iat", .number("\(issued)")), ("nbf", .number("\(issued)")), ("exp", .number("\(issued + 600)")),
                ] + members
            )
        )
        let parts = [#"{"alg":"RS256"}"#, claims.serialized, "signature"].map { Base64URL.encode(Array($0.utf8)) }
        return parts.joined(separator: ".")
    }

    func idToken(at issued: Int64, _ members: [(String, JSONValue)] = []) -> String {
        Self.idToken(issuer, at: issued, members)
    }
}
