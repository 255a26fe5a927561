import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Tokens that a program sets by hand and that can be none, and those that the issuer gave other scopes.
@Suite(.onBothEngines)
struct UnfitResponseTests {
    @Test(arguments: ["", "a\nb", "tökén"]) func `a refresh token that is none takes the place of no other`(
        text: String
    ) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let before = try fixture.currentRefreshToken().secret
        var response = try TokenResponse.signIn()
        response.refreshToken = Secret(text)
        try fixture.signIn(response)
        #expect(try fixture.currentRefreshToken().secret == before)
        var answer = TokenResponse(accessToken: Secret("at-2"))
        answer.refreshToken = Secret(text)
        let request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s1",
            grant: .refreshToken
        )
        try fixture.store.save(answer, for: request, refreshing: fixture.currentRefreshToken())
        #expect(try fixture.currentRefreshToken().secret == before)
    }

    @Test(arguments: [true, false])
    func `what was granted for .default is found for it, also by who wants all scopes`(isStrict: Bool) throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["scope": "api://todo/read"]), scope: "api://todo/.default")
        #expect(try fixture.request("api://todo/.default") { $0.acceptsDeclined = !isStrict } == .hit("a"))
        try fixture.signIn(.signIn(["scope": "api://list/read"]), scope: "api://list/read api://list/write")
        let declined = try fixture.request("api://list/read api://list/write") { $0.acceptsDeclined = !isStrict }
        #expect((declined == .hit("a")) == !isStrict)
    }
}
