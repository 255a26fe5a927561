import Foundation
import HTTPTransport
import MSAL
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// A person who is at home in one tenant of Microsoft's cloud, and a guest of another.
@MainActor
struct GuestTests {
    private static let login = "https://login.microsoftonline.com/"

    @Test func `a token comes with the ID token of its tenant`() async throws {
        let fixture = try Self.store()
        let app = try Self.application(fixture)
        let account = try #require(try app.allAccounts().first)
        let parameters = MSALSilentTokenParameters(scopes: ["s1"], account: account)
        for tenant in [Guest.home, Guest.other] {
            parameters.authority = try MSALAADAuthority(url: #require(URL(string: Self.login + tenant)))
            let result = try await app.acquireTokenSilent(with: parameters)
            #expect(result.accessToken == "at-\(tenant)")
            let idToken = try IDToken(decoding: Secret(#require(result.idToken)))
            #expect(idToken.claims.tenantID == tenant)
            #expect(result.tenantProfile.tenantId == tenant)
            #expect(result.tenantProfile.claims?["tid"] as? String == tenant)
            #expect(result.account.accountClaims?["tid"] as? String == Guest.home)
        }
    }

    @Test func `an account's claims are those of the home tenant, and each profile has its own`() throws {
        let fixture = try Self.store()
        let account = try #require(try Self.application(fixture).allAccounts().first)
        #expect(account.accountClaims?["tid"] as? String == Guest.home)
        let profiles = try #require(account.tenantProfiles)
        #expect(profiles.map(\.tenantId) == [Guest.home, Guest.other])
        #expect(profiles.map { $0.claims?["tid"] as? String } == [Guest.home, Guest.other])
    }

    @Test func `an account without an ID token of the home tenant has no claims`() throws {
        let fixture = try TestStore()
        _ = try Guest.signIn(to: fixture, at: Guest.other)
        let account = try #require(try Self.application(fixture).allAccounts().first)
        #expect(account.accountClaims == nil)
    }

    @Test func `accounts that have signed out come beside all that are signed in, where they are asked for`() throws {
        func account(_ name: String) -> JSONValue {
            .account(["home_account_id": .string("\(name).t1"), "username": .string(name)])
        }
        let document = JSONValue.cache(
            refreshTokens: [
                .refreshToken("own", ["home_account_id": "a.t1"]),
                .refreshToken("family's", ["home_account_id": "b.t1", "client_id": "cid2", "family_id": "1"]),
                .refreshToken("left", ["home_account_id": "c.t1"]),
                .refreshToken("staying", ["home_account_id": "c.t1", "client_id": "cid2"]),
                .refreshToken("another's", ["home_account_id": "d.t1", "client_id": "cid2"]),
            ],
            accounts: ["a", "b", "c", "d"].map(account),
            appMetadata: [.appMetadata(["family_id": "1"])]
        )
        let fixture = try TestStore(document)
        let app = try Self.application(fixture)
        try app.remove(try #require(try app.allAccounts().first { $0.username == "c" }))
        #expect(try app.allAccounts().compactMap(\.username) == ["a", "b"])
        let parameters = MSALAccountEnumerationParameters()
        parameters.returnOnlySignedInAccounts = false
        #expect(try app.accounts(for: parameters).compactMap(\.username).sorted() == ["a", "b", "c"])
    }

    /// A store in which the ID token of the other tenant is the newest.
    private static func store() throws -> TestStore {
        let fixture = try TestStore()
        for tenant in [Guest.home, Guest.other] { _ = try Guest.signIn(to: fixture, at: tenant) }
        return fixture
    }

    private static func application(_ fixture: TestStore) throws -> MSALPublicClientApplication {
        try fixture.application(at: Authority(parsing: login + "organizations"))
    }
}
