import OAuth
import TokenStorage

/// The pages of a database, changed: the first byte says what is tried with it beside reading, each further five (what
/// to do, three for where, with what) change it in one place.
struct DatabaseInput: FuzzInput {
    private let scratch: ScratchStore
    private let account = Account.ID(authority: "https://id.example", homeAccountID: "mara")

    init() throws {
        scratch = try ScratchStore { store in
            for subject in ["mara", "jon", "ida"] { try store.save(Self.response(subject), for: Self.request()) }
            _ = try store.purgeExpired()
        }
    }

    func run(_ bytes: [UInt8]) throws {
        let damaged = changed(bytes.dropFirst())
        try scratch.restore(damaged)
        try attempt(look)
        try hold(try scratch.isStill(damaged), "reading does not touch the file")
        switch bytes.first ?? 0 {
        case UInt8(ascii: "w"): try attempt { try scratch.open().save(Self.response("mara"), for: Self.request()) }
        case UInt8(ascii: "d"): try attempt { try scratch.open().wipeAccount(account) }
        case UInt8(ascii: "r"):
            let isRepaired = try attempt { _ = try scratch.repair() }
            guard isRepaired else { return try hold(try scratch.isStill(damaged), "what is past repair stays") }
            let problems = try scratch.open().check()
            try hold(problems.isEmpty, "a repaired store is sound, unlike \(problems)")
        default: break
        }
    }

    /// Reads everything there is to read.
    private func look() throws {
        guard let store = try scratch.inspect() else { throw BrokenPromise("a store that is there is seen") }
        var count = 0
        try store.forEachAccount(withTokens: true) { _ in count += 1 }
        try hold(count > 0, "accounts do not vanish without a word")
        try attempt { try checkTokens(store) }
        try attempt { _ = try store.accounts(matching: .claim("team", equals: .string("blue"))) }
        try attempt { _ = try store.idTokens(of: account) }
        try attempt { _ = try store.events() }
        try attempt { _ = try store.status() }
        try attempt { try store.exportMSALCache { _ in } }
        try attempt { _ = try store.check() }
    }

    private func checkTokens(_ store: TokenStore) throws {
        let query = TokenQuery(account: account, clientID: "app", scope: "read")
        if case .usable(let token, _) = try store.cachedToken(for: query) {
            try hold(token.secret == Secret("access-of-mara"), "a token is the right one")
        }
        for token in try store.refreshTokens(of: account, client: "app") {
            try hold(token.secret == Secret("refresh-of-mara"), "a refresh token is the right one")
        }
    }

    @discardableResult
    private func attempt(_ body: () throws -> Void) throws -> Bool {
        try unlessRefused(by: TokenStoreError.self, body: body) != nil
    }

    private func changed(_ changes: ArraySlice<UInt8>) -> [UInt8] {
        var database = scratch.database
        var rest = changes
        while rest.count >= 5, !database.isEmpty {
            let change = Array(rest.prefix(5))
            rest = rest.dropFirst(5)
            let place = change[1...3].reduce(0) { $0 << 8 | Int($1) } % database.count
            switch change[0] % 4 {
            case 0: database[place] = change[4]
            case 1: database[place] ^= 1 << (change[4] & 7)
            case 2: for index in place..<min(database.count, place + 64) { database[index] = change[4] }
            // So that a short input does not mostly cut the file off.
            default: if change[4] == 0 { database.removeLast(database.count - place) }
            }
        }
        return database
    }

    private static func request() throws -> TokenRequest {
        TokenRequest(
            clientID: "app",
            authority: try Authority(issuer: "https://id.example"),
            scope: "read",
            grant: .authorizationCode
        )
    }

    private static func response(_ subject: String) -> TokenResponse {
        let claims: JSON = [
            "iss": "https://id.example", "sub": .string(subject), "aud": "app", "iat": .number("\(IDTokenInput.now)"),
            "preferred_username": .string("\(subject)@example.net"), "team": "blue",
        ]
        var response = TokenResponse(accessToken: Secret("access-of-\(subject)"), expiresIn: 3_600)
        response.refreshToken = Secret("refresh-of-\(subject)")
        let parts = [["alg": "none"], claims].map { Base64URL.encode($0.serialized.utf8) }
        response.idToken = Secret(parts.joined(separator: ".") + ".c2ln")
        return response
    }
}
