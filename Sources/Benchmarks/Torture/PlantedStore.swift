import OAuth
import OpenIDConnect
import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A store with sessions at a user flow, a tenant and two issuers, and a list of what each of its secrets is for.
struct PlantedStore: Sendable {
    /// What a planted access token is for.
    struct Access: Sendable {
        let session: Session
        let scope: Scope
        let realm: String
        let expiresOn: Int64
    }

    /// An account at a client.
    struct Session: Sendable {
        let number: Int
        let client: String
        let authority: Authority
        let account: Account.ID
        let home: String
        let tenant: String

        /// The clients that may send its refresh token: those of the family too.
        var clients: [String] { isOfTenant ? PlantedStore.clients : [client] }

        /// Whether it is at a tenant that another one's token was asked for from, too.
        var isOfTenant: Bool { authority.environment == "login.microsoftonline.com" }

        /// The row of its account, as the accounts are planted in this order.
        var row: Int64 { Int64(number) + 1 }

        /// Whether it has signed out, by a document that was imported.
        var isSignedOut: Bool { number == 1 && client == PlantedStore.clients[1] }

        var team: String { "team-\(number)" }
        var department: String { "department-\(number)" }
        var username: String { "person\(number)@contoso.example" }
        var name: String { "Person Number \(number)" }
    }

    static let clients = ["app-one", "app-two"]
    static let scopes = ["api://a/read api://a/write", "api://b/read", "api://c/read", "api://d/read"]
    static let tenant = "3f0c9a52-7d1e-4b86-9f21-0a6c5d7e8b14"
    static let otherTenant = "8a1b2c3d-7d1e-4b86-9f21-0a6c5d7e8b15"
    static let domain = "https://login.microsoftonline.com/contoso.example"
    static let start: Int64 = 1_790_000_000

    /// When the store is read: the third token of each session has ended.
    static let now = start + 600

    let path: StorePath
    private(set) var sessions: [Session] = []
    private(set) var accessTokens: [String: Access] = [:]
    private(set) var refreshTokens: [String: Session] = [:]

    /// What was done, by the row of the entry.
    private(set) var events: [StoreEvent.ID: StoreEvent] = [:]

    /// The recorded use of each refresh token, by its row.
    private(set) var attempts: [Int64: RefreshAttempt] = [:]
    private(set) var throttles: Set<Throttle> = []

    /// What the store answers with a token where nothing was edited.
    ///
    /// Three lookups and a refresh of each session, and both once more where a token is of another tenant. One has
    /// signed out.
    var wantedAnswers: Int { 4 * (sessions.count - 1) + 2 * sessions.count(where: \.isOfTenant) }

    init(at path: StorePath) throws {
        self.path = path
        let store = try TokenStore.open(at: path, options: Self.options(at: Self.start))
        for number in 0..<8 {
            for client in Self.clients { try signIn(number, client, to: store) }
        }
        try store.setDefaultAccount(sessions[0].account)
        try plantDocuments(in: store)
        try plantWaits(in: store)
        try plantImport(in: store)
        try plantPurge()
        let read = try TokenStore.open(at: path, options: Self.options(at: Self.now))
        events = try Dictionary(uniqueKeysWithValues: read.events(limit: .max).map { ($0.id, $0) })
        for candidate in try sessions.flatMap({ try Self.candidates(of: $0, in: read) }) {
            attempts[candidate.token.rowID] = candidate.attempt
            if let throttle = candidate.throttle { throttles.insert(throttle) }
        }
        guard !attempts.isEmpty, !throttles.isEmpty, events.values.contains(where: { $0.kind == .purge }) else {
            throw BenchFailure("nothing is known of the use of the planted tokens")
        }
    }

    /// What would be sent for a session, and what holds it back.
    static func candidates(of session: Session, in store: TokenStore) throws -> [RefreshCandidate] {
        let query = TokenQuery(account: session.account, clientID: session.client, scope: Scope(scopes[1]))
        return try store.silentState(for: query) { _ in session.authority }?.candidates ?? []
    }

    /// An account that is gone, and signed out of the first client.
    static func gone(_ number: Int) -> Account.ID {
        Account.ID(issuer: "https://gone.example.org", homeAccountID: "gone-\(number)")
    }

    static func options(at time: Int64) -> StoreOptions {
        var options = StoreOptions()
        options.environment = [:]
        options.program = "bench"
        options.now = { Date(timeIntervalSince1970: Double(time)) }
        return options
    }

    /// Two accounts at each authority; the subjects of the two issuers, which share a host, are the same.
    private static func authority(_ number: Int) throws -> Authority {
        switch number / 2 {
        case 0: try Authority(parsing: "https://harbor.b2clogin.com/tfp/\(tenant)/b2c_1_signin")
        case 1: try Authority(parsing: "https://login.microsoftonline.com/\(tenant)")
        case 2: try Authority(issuer: "https://id.example.org")
        default: try Authority(issuer: "https://id.example.org:8443/staff")
        }
    }

    private mutating func signIn(_ number: Int, _ client: String, to store: TokenStore) throws {
        let authority = try Self.authority(number)
        let isMicrosoft = authority.issuer == nil
        let uid =
            (isMicrosoft ? "uid-\(number)" : "Subject-\(number % 2)") + (authority.userFlow.map { "-\($0)" } ?? "")
        let home = isMicrosoft ? "\(uid).\(Self.tenant)" : uid
        let group = authority.issuer ?? Cloud.group(of: authority.environment)
        let session = Session(
            number: number,
            client: client,
            authority: authority,
            account: Account.ID(issuer: group, homeAccountID: home),
            home: uid,
            tenant: isMicrosoft ? Self.tenant : number < 6 ? "" : "staff"
        )
        sessions.append(session)
        try save(session, scope: 0, realm: session.tenant, to: store) {
            $0.extendedExpiresIn = .seconds(7_200)
            $0.refreshToken = Secret("planted-refresh-\(number)-\(client)")
        }
        refreshTokens["planted-refresh-\(number)-\(client)"] = session
        guard let used = try store.refreshTokens(of: session.account, client: client, family: "1").first else {
            throw BenchFailure("a planted session has no refresh token")
        }
        try store.setTags(["team": session.team], of: session.account)
        for scope in 1...2 {
            try save(session, scope: scope, realm: session.tenant, refreshing: used, to: store) {
                $0.refreshIn = scope == 1 ? .seconds(300) : nil
            }
        }
        guard session.isOfTenant else { return }
        try save(session, scope: 3, realm: Self.otherTenant, at: Self.domain, refreshing: used, to: store)
    }

    /// Stores a response, whose access token is from then on one that was planted.
    private mutating func save(
        _ session: Session,
        scope: Int,
        realm: String,
        at authority: String? = nil,
        refreshing used: StoredRefreshToken? = nil,
        to store: TokenStore,
        _ configure: (inout TokenResponse) -> Void = { _ in }
    ) throws {
        let secret = "planted-access-\(session.number)-\(session.client)-\(scope)"
        let lifetime: Int64 = scope == 2 ? 60 : 3_600
        var response = TokenResponse(accessToken: Secret(secret), expiresIn: .seconds(lifetime))
        response.tokenType = "Bearer"
        response.scope = Scope(Self.scopes[scope])
        response.idToken = Secret(Self.idToken(of: session, realm: realm))
        if session.authority.issuer == nil {
            response.clientInfo = Fixture.clientInfo(session.home, Self.tenant)
            if session.authority.userFlow == nil { response.familyID = "1" }
        }
        configure(&response)
        var request = TokenRequest(
            clientID: session.client,
            authority: try authority.map { try Authority(parsing: $0) } ?? session.authority,
            scope: Scope(Self.scopes[scope]),
            grant: used == nil ? .authorizationCode : .refreshToken
        )
        // One session shows a key whenever it refreshes, at an issuer that takes no notice of it.
        if used == nil, session.number == 7, session.client == Self.clients[1] { request.newKey = DPoPKey().stored }
        accessTokens[secret] = Access(
            session: session,
            scope: Scope(Self.scopes[scope]),
            realm: realm,
            expiresOn: Self.start + lifetime
        )
        if let used {
            try store.save(response, for: request, refreshing: used)
        } else {
            try store.save(response, for: request)
        }
    }

    private static func idToken(of session: Session, realm: String) -> String {
        let issuer = session.authority.issuer ?? "https://\(session.authority.environment)/\(realm)/v2.0"
        var claims: JSONValue = [
            "iss": .string(issuer), "aud": .string(session.client), "sub": .string(session.home),
            "preferred_username": .string(session.username), "name": .string(session.name),
            "department": .string(session.department), "iat": .number("\(start)"), "exp": .number("\(start + 3_600)"),
        ]
        if session.authority.issuer == nil {
            claims = claims.with(["oid": .string(session.home), "tid": .string(realm)])
        }
        if let userFlow = session.authority.userFlow { claims = claims.with(["tfp": .string(userFlow)]) }
        return Fixture.idToken(claims)
    }

    private func plantDocuments(in store: TokenStore) throws {
        for authority in Set(sessions.map(\.authority)) {
            let document = HostileNetwork.metadata(of: authority)
            try store.saveIssuerDocument(document, url: authority.url, lifetime: 86_400)
            let keys = HostileNetwork.keysAddress(of: authority)
            try store.saveIssuerDocument(JSONValue.Object([("keys", [])]), url: keys, lifetime: 86_400)
        }
    }

    /// Leaves attempts and throttles behind, and two accounts that are gone.
    private func plantWaits(in store: TokenStore) throws {
        for session in sessions where session.number.isMultiple(of: 2) && session.client == Self.clients[1] {
            guard let token = try store.refreshTokens(of: session.account, client: session.client).first else {
                continue
            }
            _ = try store.beginRefresh(with: token)
            var consequence = RefreshConsequence(token: .possiblyConsumed)
            let failure = JSONValue.Object([("error", "temporarily_unavailable")])
            consequence.throttle = Throttle(beganAt: Self.start, expiresAt: Self.start + 900, failure: failure)
            consequence.event = "unavailable"
            let query = TokenQuery(account: session.account, clientID: session.client, scope: Scope(Self.scopes[1]))
            try store.endRefresh(with: token, of: query, authority: session.authority.url, consequence)
        }
        for number in 0..<2 {
            try store.removeAccount(Self.gone(number), client: Self.clients[0])
        }
    }

    /// A purge without the key, whose record has no proof.
    private func plantPurge() throws {
        var options = Self.options(at: Self.start)
        let store = try TokenStore.open(at: path, options: options)
        let gone = Account.ID(issuer: "https://gone.example.org", homeAccountID: "purged")
        let authority = try Authority(issuer: gone.issuer)
        let request = TokenRequest(
            clientID: Self.clients[0],
            authority: authority,
            scope: Scope(Self.scopes[0]),
            grant: .authorizationCode
        )
        var response = TokenResponse(accessToken: Secret("purged"), expiresIn: .seconds(1))
        response.idToken = Secret(
            Fixture.idToken([
                "iss": .string(gone.issuer), "sub": .string(gone.homeAccountID), "aud": .string(request.clientID),
                "iat": .number("\(Self.start)"), "exp": .number("\(Self.start + 1)"),
            ])
        )
        try store.save(response, for: request)
        options = Self.options(at: Self.start + 10)
        options.unlocks = false
        guard try TokenStore.open(at: path, options: options).purgeExpired().accessTokens == 1 else {
            throw BenchFailure("the planted purge is not one")
        }
        try store.removeAccount(gone)
    }

    /// Entries that are kept aside, and accounts that signed out while their tokens stayed, as MSAL writes them.
    private func plantImport(in store: TokenStore) throws {
        var items: [(name: String, value: JSONValue)] = []
        let signedOut = sessions.filter(\.isSignedOut)
        for session in signedOut {
            let item: JSONValue = [
                "client_id": .string(session.client), "home_account_id": .string(session.account.homeAccountID),
                "sign_in_state": "signed_out",
            ]
            items.append((session.account.homeAccountID, item))
        }
        let record: JSONValue = [
            "client_id": .string(Self.clients[1]), "account_metadata_map": .object(JSONValue.Object(items)),
        ]
        let quarantined = JSONValue.accessToken("kept", "s1", ["expires_on": "soon"])
        let document: JSONValue = [
            "AccountMetadataMap": ["record": record], "Notes": ["first": ["k": "v"], "second": ["k": "w"]],
            "AccessToken": ["odd": quarantined],
        ]
        try store.take(document.serialized)
        let states = try signedOut.map { try store.signInState(of: $0.account, client: $0.client) }
        guard states == [.signedOut] else { throw BenchFailure("the planted sign-out is not one") }
    }
}
