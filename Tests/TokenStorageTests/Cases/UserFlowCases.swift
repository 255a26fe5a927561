import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Each user flow of Azure AD B2C has accounts of its own, also where neither an id nor the issuer names it.
@Suite(.onBothEngines)
struct UserFlowCases {
    private static let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"
    private static let issuer = "https://id.harbor.example/\(tenant)/v2.0/"
    private static let flows = ["b2c_1_edit", "b2c_1_susi"]

    private static func authority(_ flow: String) -> String { "https://id.harbor.example/tfp/\(tenant)/\(flow)" }

    private static func response(_ refreshToken: String, uid: String? = nil, flow: String? = nil) throws
        -> TokenResponse
    {
        var claims: JSONValue = ["iss": .string(issuer), "sub": "o1"]
        if let flow { claims = claims.with(["tfp": .string(flow)]) }
        return try .signIn(
            [
                "id_token": .string(Fixture.idToken(claims)), "refresh_token": .string(refreshToken),
                "client_info": .string(Fixture.clientInfo(uid ?? "", tenant)),
            ],
            without: uid == nil ? "client_info" : ""
        )
    }

    private static func refresh(at flow: String) throws -> TokenRequest {
        TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(parsing: authority(flow)),
            scope: "s1",
            grant: .refreshToken
        )
    }

    @Test(arguments: [nil, "o1"])
    func `user flows are told apart where the issuer names none`(uid: String?) throws {
        let fixture = try TestStore()
        for flow in Self.flows + Self.flows {
            try fixture.signIn(Self.response("r-" + flow, uid: uid, flow: flow), at: Self.authority(flow))
        }
        let accounts = try fixture.store.accounts()
        #expect(accounts.compactMap(\.userFlow).sorted() == Self.flows)
        for account in accounts {
            let flow = try #require(account.userFlow)
            let tokens = try fixture.store.refreshTokens(of: account.id, client: Fixture.client)
            #expect(tokens.map { $0.secret.reveal() } == ["r-" + flow])
            let saved = try fixture.store.save(
                Self.response("next", uid: uid),
                for: Self.refresh(at: flow),
                refreshing: #require(tokens.first)
            )
            #expect(saved.account == account.id)
        }
        // An export has them both, and another store takes them both.
        let other = try TestStore()
        try other.take(fixture.store.exported())
        #expect(try Set(other.store.accounts().map(\.id)) == Set(accounts.map(\.id)))
        #expect(try other.store.accounts().compactMap(\.userFlow).sorted() == Self.flows)
    }

    @Test func `a session that was filed without its user flow goes on there`() throws {
        let fixture = try TestStore()
        // By the address of the issuer none is asked, as earlier versions did.
        try fixture.signIn(Self.response("r1"), at: Self.issuer)
        let account = try #require(try fixture.store.accounts().first).id
        #expect(account.homeAccountID == "o1")
        let token = try #require(try fixture.store.refreshTokens(of: account, client: Fixture.client).first)
        let saved = try fixture.store.save(
            Self.response("r2"),
            for: Self.refresh(at: "b2c_1_susi"),
            refreshing: token
        )
        #expect(saved.account == account)
        #expect(try fixture.store.accounts().count == 1)
        // So does the next sign-in there; one at another user flow is of another account.
        try fixture.signIn(Self.response("r3", flow: "b2c_1_susi"), at: Self.authority("b2c_1_susi"))
        #expect(try fixture.store.accounts().map(\.id) == [account])
        try fixture.signIn(Self.response("r4", flow: "b2c_1_edit"), at: Self.authority("b2c_1_edit"))
        #expect(try fixture.store.accounts().compactMap(\.userFlow).sorted() == Self.flows)
        #expect(try fixture.store.refreshTokens(of: account, client: Fixture.client).map(\.secret) == [Secret("r3")])
    }

    @Test func `an account of before whose row is damaged stops no sign-in`() throws {
        let fixture = try TestStore()
        try fixture.signIn(Self.response("r1"), at: Self.issuer)
        try fixture.store.withWriter { try $0.connection.execute("UPDATE tenant_profile SET username = 'altered'") }
        try fixture.signIn(Self.response("r2", flow: "b2c_1_susi"), at: Self.authority("b2c_1_susi"))
        let found = try fixture.store.accounts(matching: .userFlow("b2c_1_susi"))
        #expect(found.map(\.id.homeAccountID) == ["o1-b2c_1_susi"])
    }

    @Test func `an id that ends like one of a user flow is another user's where none was asked`() throws {
        let fixture = try TestStore()
        try fixture.signIn(Self.response("r1"), at: Self.issuer)
        let account = try #require(try fixture.store.accounts().first).id
        let token = try #require(try fixture.store.refreshTokens(of: account, client: Fixture.client).first)
        let claims: JSONValue = ["iss": .string(Self.issuer), "sub": "o1-b2c_1_susi"]
        let answer = try TokenResponse.signIn(["id_token": .string(Fixture.idToken(claims))], without: "client_info")
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(parsing: Self.issuer),
            scope: "s1",
            grant: .refreshToken
        )
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.store.save(answer, for: request, refreshing: token)
        }
        #expect(error?.code == .otherAccount)
    }
}
