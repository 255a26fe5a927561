import Foundation
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// The ID token of a refresh, beside the one of the sign-in (OpenID Connect Core §12.2).
@Suite(.onBothEngines)
struct RefreshedIDTokenTests {
    /// Signs in at an issuer whose ID token has `nonce`, and lets the access token end.
    private static func scene(nonce: String? = nil) throws -> OpenScene {
        let members: [(String, JSONValue)] = nonce.map { [("nonce", .string($0))] } ?? []
        let scene = try OpenScene(idTokenMembers: members)
        scene.expire()
        return scene
    }

    private static func answer(
        _ scene: OpenScene,
        _ members: [(String, JSONValue)],
        refreshToken: String = "rt-1"
    ) {
        let idToken = scene.idToken(at: scene.clock.seconds, members)
        scene.issuer.answer(
            .init(
                #"{"access_token":"new","refresh_token":"\#(refreshToken)","expires_in":3600,"id_token":"\#(idToken)"}"#
            )
        )
    }

    @Test func `the hash of another access token costs neither the token nor the session`() async throws {
        let scene = try Self.scene()
        Self.answer(scene, [("at_hash", "77QmUPtjPfzWtF2AnpK9RQ")])
        #expect(try await scene.acquire().accessToken.secret == Secret("new"))
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test func `the ID token of the sign-in given again is none, though it has ended`() async throws {
        let scene = try OpenScene()
        let signedIn = scene.clock.seconds
        func answer(_ idToken: String, _ refreshToken: String) {
            scene.expire()
            scene.issuer.answer(
                .init(
                    """
                    {"access_token":"at for \(refreshToken)","refresh_token":"\(refreshToken)","expires_in":3600,\
                    "id_token":"\(idToken)"}
                    """
                )
            )
        }
        answer(scene.idToken(at: signedIn), "rt-1")
        let result = try await scene.acquire()
        #expect(result.accessToken.secret == Secret("at for rt-1") && result.idToken == nil)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
        // Another one that has ended is not what the store has.
        answer(scene.idToken(at: signedIn, [("jti", "2")]), "rt-2")
        #expect(try await scene.failure()?.idTokenFlaw == .expired)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-2")])
        #expect(try await scene.store.check() == [])
    }

    @Test func `a damaged ID token ends no session`() async throws {
        let scene = try Self.scene(nonce: "n-1")
        try scene.store.sql("UPDATE id_token SET environment = 'elsewhere'")
        Self.answer(scene, [("nonce", "n-1")])
        #expect(try await scene.acquire().accessToken.secret == Secret("new"))
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test func `the names of the newest ID token are those of the account`() async throws {
        let scene = try Self.scene()
        Self.answer(scene, [("preferred_username", "new@example.net")])
        #expect(try await scene.acquire().source == .refresh)
        let accounts = try await scene.store.accounts()
        let account = try #require(accounts.first)
        #expect(account.username == "new@example.net" && account.name == "Mara")
        #expect(try await scene.store.accounts(matching: .username("new@example.net")) == [account])
        #expect(account.tenantProfiles.count == 1)
        #expect(try await scene.store.check() == [])
    }

    @Test func `an ID token without a username does not rename the account`() async throws {
        let scene = try Self.scene()
        let before = try await scene.store.accounts()
        Self.answer(scene, [("email", "mara@example.net")])
        #expect(try await scene.acquire().source == .refresh)
        #expect(try await scene.store.accounts().map(\.username) == before.map(\.username))
    }

    @Test func `a token of a type that nothing here can use is refused, and the session continues`() async throws {
        let scene = try Self.scene()
        scene.issuer.answer(
            .init(#"{"access_token":"new","refresh_token":"rt-1","expires_in":3600,"token_type":"mac"}"#)
        )
        let error = try #require(try await scene.failure())
        #expect(error.code == .unusableAnswer && error.problem.contains("type 'mac'"), "\(error)")
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
        Self.answer(scene, [])
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test func `after a lost answer the repeated one is accepted`() async throws {
        let scene = try Self.scene()
        // The process ended between the request and the answer.
        guard let token = try scene.refreshTokens.first else { throw ExpectationFailure("a refresh token") }
        _ = try scene.store.beginRefresh(with: token)
        Self.answer(scene, [("at_hash", "77QmUPtjPfzWtF2AnpK9RQ")])
        #expect(try await scene.acquire().source == .refresh)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test(
        arguments: [("n-1", "n-1"), ("n-1", nil), ("n-1", .null), (nil, "n-2"), (nil, nil)] as [(String?, JSONValue?)]
    )
    func `an ID token with the nonce of the sign-in, or without one, is taken`(
        first: String?,
        second: JSONValue?
    ) async throws {
        let scene = try Self.scene(nonce: first)
        Self.answer(scene, second.map { [("nonce", $0)] } ?? [])
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test(arguments: [.string("n-2"), .string("N-1"), .string(""), .number("1")] as [JSONValue])
    func `tokens beside an ID token of another nonce are refused, the session continues`(nonce: JSONValue) async throws
    {
        let scene = try Self.scene(nonce: "n-1")
        Self.answer(scene, [("nonce", nonce)])
        guard try await scene.failure()?.idTokenFlaw == .nonce else {
            throw ExpectationFailure("a wrong nonce")
        }
        Self.answer(scene, [("nonce", "n-1")])
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.issuer.forms().map { $0["refresh_token"] } == ["rt-0", "rt-1"])
    }

    @Test(arguments: [true, false])
    func `a sign-in without a refresh token leaves the nonce of the session that has one`(rotates: Bool) async throws {
        let scene = try OpenScene(idTokenMembers: [("nonce", "n-1")])
        scene.clock.seconds += 5
        // The second finds what the first has left.
        for nonce in ["n-2", "n-3"] { try scene.signIn(refreshToken: nil, idTokenMembers: [("nonce", .string(nonce))]) }
        for number in 1...2 {
            scene.expire()
            Self.answer(scene, [("nonce", "n-1")], refreshToken: rotates ? "rt-\(number)" : "rt-0")
            #expect(try await scene.acquire().source == .refresh)
        }
        scene.expire()
        Self.answer(scene, [("nonce", "n-3")])
        #expect(try await scene.failure()?.idTokenFlaw == .nonce)
        #expect(try await scene.store.check() == [])
    }

    @Test func `a sign-in with a refresh token brings the nonce of its own`() async throws {
        let scene = try OpenScene(idTokenMembers: [("nonce", "n-1")])
        try scene.signIn(refreshToken: nil, idTokenMembers: [("nonce", "n-2")])
        try scene.signIn(refreshToken: "rt-9", idTokenMembers: [("nonce", "n-3")])
        scene.expire()
        Self.answer(scene, [("nonce", "n-3")])
        #expect(try await scene.acquire().source == .refresh)
        scene.expire()
        Self.answer(scene, [("nonce", "n-1")])
        #expect(try await scene.failure()?.idTokenFlaw == .nonce)
    }

    @Test func `a refresh token beside another person's ID token is not kept, whatever else is wrong with it`()
        async throws
    {
        for members in [[("exp", JSONValue.number("1"))], [("aud", "other")], [("nonce", "unknown")], []] {
            let scene = try Self.scene()
            Self.answer(scene, [("sub", "someone-else")] + members)
            let error = try await scene.failure()
            #expect(error?.code == .accountMismatch, "\(members) \(String(describing: error))")
            #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-0")])
        }
    }

    @Test func `another person's answer ends that session, but not with the token that was sent`() async throws {
        for (token, revoked) in [("rt-1", ["rt-1"]), ("rt-0", [])] {
            let scene = try Self.scene()
            scene.issuer.publish(
                JSONValue.Object([
                    ("jwks_uri", .string(scene.issuer.issuer + "/keys")),
                    ("revocation_endpoint", .string(scene.issuer.issuer + "/revoke")),
                ])
            )
            scene.issuer.answer(.init(""), at: "/op/revoke")
            let idToken = scene.idToken(at: scene.clock.seconds, [("sub", "someone-else")])
            scene.issuer.answer(
                .init(#"{"access_token":"new","refresh_token":"\#(token)","expires_in":3600,"id_token":"\#(idToken)"}"#)
            )
            #expect(try await scene.failure()?.code == .accountMismatch)
            #expect(scene.issuer.forms("/op/revoke").compactMap { $0["token"] } == revoked)
            #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-0")])
        }
    }

    @Test func `another person's answer is recorded, and the token counts as possibly spent`() async throws {
        let scene = try Self.scene()
        Self.answer(scene, [("sub", "someone-else")])
        #expect(try await scene.failure()?.code == .accountMismatch)
        let outcomes = try await scene.store.events(of: scene.account).map(\.outcome)
        #expect(outcomes.contains("account_mismatch"), "\(outcomes)")
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        let refusal = try await scene.failure()
        #expect(refusal?.code == .possiblyConsumed)
        #expect(refusal?.events.map(\.outcome).contains("account_mismatch") == true)
    }

    @Test func `a sign-in without a refresh token after the end leaves no token that has ended`() async throws {
        let scene = try OpenScene()
        // A session goes on beside one that has none of its own.
        try scene.signIn(refreshToken: nil)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-0")])
        scene.expire()
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        _ = try await scene.failure()
        try scene.signIn(refreshToken: nil)
        #expect(try scene.refreshTokens.isEmpty)
        let summary = try await scene.store.summary(of: scene.account)
        #expect(summary?.hasRefreshToken == false)
        #expect(summary?.signInState == .signedIn)
        scene.expire()
        #expect(try await scene.failure()?.interaction == .noRefreshToken)
        #expect(scene.tokenRequestCount == 1)
        #expect(try await scene.store.check() == [])
    }

    @Test(arguments: ["", #","suberror":"bad_token""#])
    func `a sign-in without a refresh token leaves the place of an answer on its way`(suberror: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        let token = try #require(try scene.refreshTokens.first)
        // By a program that was held up when the answer had come.
        _ = try await scene.store.perform { try $0.beginRefresh(with: token) }
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"\#(suberror)}"#))
        #expect(try await scene.failure()?.code == .possiblyConsumed)
        try scene.signIn(refreshToken: nil)
        #expect(try await scene.store.summary(of: scene.account)?.hasRefreshToken == false)
        #expect(try await scene.storeLateAnswer(to: token).outcome == .stored)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }
}
