import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing
import TokenManagement
import TokenStorage

@testable import SignIn

/// Which authority is meant where a request names none, or names it otherwise than the app does.
struct AuthorityTests {
    @Test(arguments: [Guest.other, Guest.home, "organizations"])
    func `an app of one tenant gets tokens of it, and one of every tenant those of home`(tenant: String) async throws {
        let fixture = try TestStore()
        _ = try Guest.signIn(to: fixture, at: Guest.home)
        let account = try #require(try Guest.signIn(to: fixture, at: Guest.other))
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
        let expected = tenant == Guest.other ? Guest.other : Guest.home
        let token = try await application.session(for: account).accessToken(for: "s1")
        #expect(token.secret == Secret("at-\(expected)"))
        var request = SilentRequest(account: account.id, scope: "s1")
        request.authority = try Authority(parsing: "https://login.microsoftonline.com/\(Guest.home)")
        let named = try await application.acquireTokenSilently(request)
        #expect(named.accessToken.secret == Secret("at-\(Guest.home)"))
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

    /// Earlier versions named a person so who signed in by the issuer's address.
    @Test func `an account at Microsoft that is stored under its subject signs in again`() throws {
        let issuer = "https://login.microsoftonline.com/\(Guest.home)/v2.0"
        let authority = try Authority(issuer: issuer)
        let claims: JSONValue = ["iss": .string(issuer), "sub": "s1", "aud": "cid", "tid": .string(Guest.home)]
        let idToken = Fixture.idToken(claims)
        let clientInfo = Fixture.clientInfo("u1", Guest.home)
        let tokens = SignedInTokens(
            response: try .new(["id_token": .string(idToken), "client_info": .string(clientInfo)]),
            request: TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: .authorizationCode),
            idToken: try IDToken(decoding: Secret(idToken)),
            documents: IssuerDocuments(of: authority, transport: SignInScene.transport),
            space: nil
        )
        for (id, isSame) in [("s1", true), ("s2", false), ("u1.\(Guest.home)", true), ("u2.\(Guest.home)", false)] {
            let account = Account(
                id: Account.ID(issuer: "login.windows.net", homeAccountID: id),
                environment: "login.microsoftonline.com",
                issuer: nil,
                username: "",
                name: nil,
                userFlow: nil,
                uid: nil,
                utid: nil,
                tenantProfiles: []
            )
            #expect(tokens.belong(to: account) == isSame, "\(id)")
        }
    }
}
