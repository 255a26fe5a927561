import HTTPTransport
import IssuerSupport
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Callers share a refresh only where one answer is right for each of them.
@Suite(.onBothEngines)
struct IdentityTests {
    /// Signs the subject in that `OpenScene` has signed in already, with a capital.
    private static func signInOther(_ scene: OpenScene) throws -> Account.ID {
        var response = TokenResponse(accessToken: Secret("at-other"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-other")
        let claims: JSONValue = [
            "iss": .string(scene.issuer.issuer), "sub": "Subject", "aud": .string(OpenScene.client),
        ]
        response.idToken = Secret(Fixture.idToken(claims))
        let request = TokenRequest(
            clientID: OpenScene.client,
            authority: try scene.authority,
            scope: "openid read write",
            grant: .authorizationCode
        )
        return try #require(try scene.store.save(response, for: request).account)
    }

    @Test func `subjects that differ in case each get their own token at the same time`() async throws {
        let scene = try OpenScene()
        let other = try Self.signInOther(scene)
        scene.expire()
        scene.issuer.answer(
            .init(#"{"access_token":"at-1","expires_in":3600}"#),
            .init(#"{"access_token":"at-2","expires_in":3600}"#)
        )
        let callers = Counter()
        let transport = InterceptingTransport(Scene.transport) { request in
            guard request.url.hasSuffix("/token") else { return }
            try await eventually("both callers") { callers.value == 2 }
        }
        let manager = TokenManager(store: scene.store, clientID: OpenScene.client, transport: transport)
        func acquire(_ account: Account.ID) async throws -> String {
            _ = callers.next()
            return try await manager.acquireTokenSilently(SilentRequest(account: account, scope: "read"))
                .accessToken.secret.reveal()
        }
        async let first = acquire(scene.account)
        async let second = acquire(other)
        #expect(Set(try await [first, second]) == ["at-1", "at-2"])
        #expect(Set(scene.issuer.forms().compactMap { $0["refresh_token"] }) == ["rt-0", "rt-other"])
    }

    @Test func `requests share a refresh only when one answer is right for all of them`() throws {
        let id = Account.ID(issuer: "https://idp.example.com", homeAccountID: "Alice")
        let request = SilentRequest(account: id, scope: "read write")
        let authority = try Authority(issuer: "https://idp.example.com")
        func key(_ change: (inout SilentRequest) -> Void) -> SharedRefresh.Key {
            var changed = request
            change(&changed)
            return SharedRefresh.Key(changed, clientID: "app")
        }
        let alike = [
            key { _ in }, key { $0.timeout = .seconds(1) }, key { $0.loginHint = "mara" },
            key { $0.requiresAllScopes = true },
            SharedRefresh.Key(SilentRequest(account: id, scope: "Write read"), clientID: "app"),
        ]
        #expect(Set(alike).count == 1)
        let other = Account.ID(issuer: id.issuer, homeAccountID: "alice")
        let different = [
            key { _ in }, key { $0.forcesRefresh = true }, key { $0.minimumLifetime = .seconds(60) },
            key { $0.claims = [:] },
            key { $0.tokenType = "pop" }, key { $0.keyID = "k" },
            key { $0.authority = authority },
            SharedRefresh.Key(SilentRequest(account: other, scope: "read write"), clientID: "app"),
            SharedRefresh.Key(SilentRequest(account: id, scope: "read"), clientID: "app"),
            SharedRefresh.Key(request, clientID: "app2"),
        ]
        #expect(Set(different).count == different.count)
    }

    @Test(arguments: [
        ("https://idp.example.com:8443/\(tenant)/v2.0", "uid.\(tenant)", "https://idp.example.com:8443/\(tenant)"),
        ("https://idp.example.com:8443/op", "subject", "https://idp.example.com:8443/op"),
        ("https://idp.example.com:8443/op", "other", "https://idp.example.com:8443/op"),
        ("https://idp.example.com:8443/op", "uid.\(tenant)", "https://idp.example.com:8443/op"),
        (
            "https://idp.example.com:8443/\(tenant)/v2.0", "uid-b2c_1_x.\(tenant)-B2C_1_X",
            "https://idp.example.com:8443/tfp/\(tenant)/b2c_1_x"
        ),
    ])
    func `an imported account is refreshed at the port of its issuer`(issuer: String, id: String, url: String) throws {
        let place: KeyValuePairs<String, JSONValue> = [
            "home_account_id": .string(id), "environment": "idp.example.com",
        ]
        let claims: JSONValue = ["iss": .string(issuer), "sub": "subject", "aud": "cid"]
        let document = JSONValue.cache(
            refreshTokens: [.refreshToken("r").with(place)],
            idTokens: [.idToken(claims).with(place)],
            accounts: [.account().with(place)]
        )
        for rows in [document, document.with([:], without: "Account")] {
            let fixture = try TestStore(rows)
            let account = try #require(try fixture.store.accounts().first)
            #expect(try Authority(of: account, requested: nil).url == url)
        }
    }

    /// Earlier versions stored such a sign-in so.
    @Test(arguments: ["tfp", tenant], [nil, "b2c_1_x"])
    func `an account that signed in by the issuer of a user flow is refreshed there`(
        realm: String,
        userFlow: String?
    ) throws {
        let issuer = "https://t.b2clogin.com/tfp/\(Self.tenant)/b2c_1_x/v2.0/"
        let account = Account(
            id: Account.ID(issuer: "t.b2clogin.com", homeAccountID: "s"),
            environment: "t.b2clogin.com",
            issuer: issuer,
            username: "",
            name: nil,
            userFlow: userFlow,
            uid: nil,
            utid: nil,
            tenantProfiles: [TenantProfile(tenantID: realm, localAccountID: "s", isHome: true)]
        )
        let authority = try Authority(of: account, requested: nil)
        #expect(authority.url == "https://t.b2clogin.com/tfp/\(Self.tenant)/b2c_1_x")
    }

    @Test(arguments: [
        ("https://id.harbor.example/\(tenant)/v2.0/", "https://id.harbor.example/tfp/\(tenant)/b2c_1_x"),
        (
            "https://id.harbor.example/tfp/\(tenant)/b2c_1_x/v2.0/",
            "https://id.harbor.example/tfp/\(tenant)/b2c_1_x/v2.0/"
        ),
    ])
    func `an account of a user flow at a domain of its own is refreshed there without client_info`(
        issuer: String,
        url: String
    ) throws {
        let account = Account(
            id: Account.ID(issuer: issuer, homeAccountID: "s"),
            environment: "id.harbor.example",
            issuer: issuer,
            username: "",
            name: nil,
            userFlow: "b2c_1_x",
            uid: nil,
            utid: nil,
            tenantProfiles: [TenantProfile(tenantID: Self.tenant, localAccountID: "s", isHome: true)]
        )
        let authority = try Authority(of: account, requested: nil)
        #expect(authority.url == url)
        #expect(authority.vouches(for: account.id))
    }

    private static let tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"
}
