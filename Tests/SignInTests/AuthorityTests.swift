import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// Which authority is meant where a request names none, or names it otherwise than the app does.
struct AuthorityTests {
    private static let home = "aaaaaaaa-0000-4000-8000-000000000001"
    private static let other = "bbbbbbbb-0000-4000-8000-000000000002"
    private static let uid = "11111111-0000-4000-8000-000000000001"

    @Test(arguments: [other, home, "organizations"])
    func `an app of one tenant gets tokens of it, and one of every tenant those of home`(tenant: String) async throws {
        let fixture = try TestStore()
        _ = try Self.signIn(to: fixture, at: Self.home)
        let account = try Self.signIn(to: fixture, at: Self.other)
        let configuration = try PublicClientConfiguration(
            clientID: Fixture.client,
            redirectURI: .anyPort,
            authority: Authority(parsing: "https://login.microsoftonline.com/\(tenant)")
        )
        let application = try PublicClientApplication(
            configuration,
            store: fixture.store,
            transport: SignInScene.transport,
            userAgent: AbsentUser()
        )
        let expected = tenant == Self.other ? Self.other : Self.home
        let token = try await application.session(for: account).accessToken(for: "s1")
        #expect(token.secret == Secret("at-\(expected)"))
        var request = SilentRequest(account: account.id, scope: "s1")
        request.authority = try Authority(parsing: "https://login.microsoftonline.com/\(Self.home)")
        let named = try await application.acquireTokenSilently(request)
        #expect(named.accessToken.secret == Secret("at-\(Self.home)"))
    }

    @Test func `a tenant's id stands for its domain, and a session signs in again at the domain`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let ana = try ScriptedUser { try await $0.signIn(SignInScene.ana, SignInScene.anasPassword) }
            let application = try scene.application(ana)
            let own = application.configuration.authority
            var request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            request.authority = try Authority(
                host: own.environment,
                tenant: #require(account.utid),
                userFlow: SignInScene.signUpOrSignIn,
                scheme: own.scheme
            )
            #expect(request.authority != own)
            #expect(try await application.acquireTokenSilently(request).source == .cache)
            let again = try await application.session(for: account).acquireToken(for: SignInScene.toDo)
            #expect(again.account.id == account.id)
            #expect(again.authority == own)
        }
    }

    private static func signIn(to fixture: TestStore, at tenant: String) throws -> Account {
        let issuer = "https://login.microsoftonline.com/\(tenant)"
        var response = TokenResponse(accessToken: Secret("at-\(tenant)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-\(tenant)")
        response.clientInfo = Fixture.clientInfo(uid, home)
        response.idToken = Secret(
            Fixture.idToken([
                "iss": .string("\(issuer)/v2.0"), "aud": .string(Fixture.client), "sub": "s", "tid": .string(tenant),
                "oid": .string(tenant == home ? uid : "22222222-0000-4000-8000-000000000002"),
            ])
        )
        let account = try #require(try fixture.signIn(response, scope: "s1", at: issuer).account)
        return try #require(try fixture.store.account(account))
    }
}
