import Database
import OAuth
import TokenStorage

/// A made-up account with its tokens; the same number gives the same account.
struct SampleAccount {
    static let client = "5d1f2c3b-8a6e-4f70-9b1c-2e3d4f5a6b7c"
    static let tenant = "3f0c9a52-7d1e-4b86-9f21-0a6c5d7e8b14"
    static let environment = "login.microsoftonline.com"
    static let authority = Cloud.group(of: environment)

    let number: Int
    let uid: String

    /// Other generations have other tokens.
    var generation: UInt64 = 0

    init(_ number: Int) {
        self.number = number
        var random = RandomText(seed: UInt64(number) &* 0x5851_F42D_4C95_7F2D)
        uid = random.guid()
    }

    var homeAccountID: String { "\(uid).\(Self.tenant)" }
    var id: Account.ID { Account.ID(issuer: Self.authority, homeAccountID: homeAccountID) }
    var username: String { "user\(number)@contoso.example" }
    var name: String { "User Number \(number)" }

    /// Ten accounts share one of these.
    var team: String { "team-\(number / 10)" }

    /// What the `index`-th access token is for.
    static func scope(_ index: Int) -> String { "https://api\(index).contoso.example/access" }

    func accessToken(_ index: Int) -> String { token("access\(index)", count: 1_600) }

    var refreshToken: String { token("refresh", count: 1_200) }

    /// A compact JWT with the claims of a workforce account; its signature is made up.
    var idToken: String {
        var random = random(3)
        let header = #"{"typ":"JWT","alg":"RS256","kid":"made-up"}"#
        let payload = "{" + claims.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        return [Base64URL.encode(header.utf8), Base64URL.encode(payload.utf8), random.token(count: 342)]
            .joined(separator: ".")
    }

    /// Names and values in JSON.
    var claims: [(name: String, value: String)] {
        [
            ("aud", "\"\(Self.client)\""),
            ("iss", "\"https://\(Self.environment)/\(Self.tenant)/v2.0\""),
            ("iat", "\(1_790_000_000 + generation)"), ("nbf", "1790000000"), ("exp", "1790003600"),
            ("name", "\"\(name)\""), ("oid", "\"\(uid)\""), ("preferred_username", "\"\(username)\""),
            ("sub", "\"sub-\(uid)\""), ("tid", "\"\(Self.tenant)\""), ("ver", "\"2.0\""),
            ("department", "\"department-\(number % 40)\""), ("team", "\"\(team)\""),
            ("roles", #"["reader","writer"]"#), ("email", "\"\(username)\""), ("country", "\"NL\""),
        ]
    }

    var clientInfo: String {
        Base64URL.encode(#"{"uid":"\#(uid)","utid":"\#(Self.tenant)"}"#.utf8)
    }

    /// What a lookup of the `index`-th access token asks.
    func query(_ index: Int = 0) -> TokenQuery { Self.query(of: id, index) }

    static func query(of account: Account.ID, _ index: Int) -> TokenQuery {
        TokenQuery(account: account, clientID: client, scope: Scope(scope(index)))
    }

    private func token(_ kind: String, count: Int) -> String {
        var random = random(UInt64(kind.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
        // A number that tells which sign-in was kept.
        let head = "\(kind).\(number).\(generation)."
        return head + random.token(count: count - head.utf8.count)
    }

    private func random(_ salt: UInt64) -> RandomText {
        RandomText(seed: UInt64(number) &* 0x9E37_79B9 &+ generation &* 0x85EB_CA6B &+ salt)
    }
}

extension SampleAccount {
    /// What a token endpoint answers when the account signs in.
    var response: TokenResponse {
        var response = TokenResponse(accessToken: Secret(accessToken(0)), expiresIn: .seconds(3_600))
        response.tokenType = "Bearer"
        response.refreshToken = Secret(refreshToken)
        response.idToken = Secret(idToken)
        response.clientInfo = clientInfo
        response.scope = Scope(Self.scope(0) + " openid profile")
        return response
    }

    /// What was asked of the token endpoint.
    static func request(grant: Grant = .authorizationCode) throws -> TokenRequest {
        TokenRequest(
            clientID: client,
            authority: try Authority(parsing: "https://\(environment)/\(tenant)"),
            scope: Scope(scope(0) + " openid profile offline_access"),
            grant: grant
        )
    }
}

extension TokenStore {
    /// Fills the store with made-up accounts, in pieces that each fit into memory.
    func fill(_ accounts: Range<Int>, accessTokens: Int, _ progress: (Int) -> Void = { _ in }) throws {
        // Room for the pages of the indexes that a piece touches all over.
        try withWriter { try $0.connection.execute("PRAGMA cache_size = -262144") }
        var start = accounts.lowerBound
        while start < accounts.upperBound {
            let end = min(start + 10_000, accounts.upperBound)
            let document = MSALDocument(accounts: start..<end, accessTokens: accessTokens).bytes
            _ = try document.withUnsafeBytes { try importMSALCache($0) }
            start = end
            progress(end)
        }
        try withWriter { try $0.connection.execute("PRAGMA cache_size = -16384") }
    }
}
