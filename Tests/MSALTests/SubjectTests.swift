import HTTPTransport
import MSAL
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// People of one issuer whose ids differ in the case of letters alone (OpenID Connect Core §2).
@MainActor
struct SubjectTests {
    private static let issuer = "https://login.example.org"
    private static let subjects = ["Zm9vYg", "zM9vYg"]

    @Test func `an account is found by its own id, and by another spelling where that names one`() throws {
        let fixture = try TestStore()
        let app = try Self.application(fixture)
        try Self.signIn(Self.subjects[0], to: fixture)
        #expect(try app.account(forIdentifier: "ZM9VYG").identifier == Self.subjects[0])
        try Self.signIn(Self.subjects[1], to: fixture)
        for subject in Self.subjects { #expect(try app.account(forIdentifier: subject).identifier == subject) }
        #expect(try app.accounts(for: MSALAccountEnumerationParameters(identifier: "ZM9VYG")).count == 2)
    }

    private static func signIn(_ subject: String, to fixture: TestStore) throws {
        var response = TokenResponse(accessToken: Secret("at-\(subject)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-\(subject)")
        response.idToken = Secret(
            Fixture.idToken(["iss": .string(issuer), "aud": .string(Fixture.client), "sub": .string(subject)])
        )
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(issuer: issuer),
            scope: "s1",
            grant: .authorizationCode
        )
        try fixture.store.save(response, for: request)
    }

    private static func application(_ fixture: TestStore) throws -> MSALPublicClientApplication {
        try fixture.application(at: Authority(issuer: issuer))
    }
}
