import Foundation
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Real servers are not textbooks: what was seen at issuers, and what it must not cost.
@Suite(.aboutFiles("the servers here are issuers"))
struct RealServerTests {
    @Test(arguments: ["", "{}", #"{"errorCode":"E0000","errorSummary":"The token is not known"}"#])
    func `an empty 400, or one in an issuer's own JSON, needs interaction and keeps the token`(
        body: String
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 400, body))
        for net in [1, 1] {
            guard try await scene.failure()?.interaction == .refusedWithoutReason else {
                throw ExpectationFailure("refusedWithoutReason")
            }
            // The refusal is remembered for a minute.
            #expect(scene.tokenRequestCount == net)
        }
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-0"])
    }

    @Test(arguments: ["<html>Bad request</html>", #"["invalid_grant"]"#])
    func `a 400 that is not the issuer's refusal needs no interaction`(body: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(
            .init(status: 400, body),
            .init(#"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1"}"#)
        )
        let error = try await scene.failure()
        #expect(error?.code == .unusableAnswer)
        #expect(error?.status == 400)
        #expect(error?.needsInteraction == false)
        #expect(try await scene.acquire().source == .refresh)
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-1"])
    }

    @Test func `invalid_request is how some issuers refuse a refresh token`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_request"}"#))
        guard let error = try await scene.failure()?.refusal else {
            throw ExpectationFailure("a refusal")
        }
        #expect(error.code == .invalidRequest)
        #expect(try scene.refreshTokens.count == 1)
    }

    @Test(
        arguments: [
            (#"{"error":"invalid_client"}"#, .clientMisconfigured),
            (#"{"error":"unauthorized_client"}"#, .clientMisconfigured), ("", .unusableAnswer),
        ] as [(String, AcquisitionError.Code)]
    )
    func `a 401 for an unknown client keeps the session, with or without a body`(
        body: String,
        code: AcquisitionError.Code
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 401, body))
        let failure = try await scene.failure()
        let error = try #require(failure)
        #expect(error.code == code)
        #expect((error.status ?? error.refusal?.status) == 401)
        #expect((error.refusal == nil) == body.isEmpty)
        #expect(error.remedy?.code == .checkRegistration)
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await scene.acquire().source == .refresh)
    }

    @Test func `a token type in small letters is Bearer`() async throws {
        let scene = try OpenScene()
        let token = try await scene.acquire().accessToken
        #expect(token.tokenType == "bearer")
        #expect(token.authorizationScheme == "Bearer")
        #expect(scene.tokenRequestCount == 0)
    }

    @Test func `a refresh token with a known end is used before that end`() async throws {
        let scene = try OpenScene { $0.refreshTokenExpiresIn = .seconds(3_600) }
        scene.clock.seconds += 1_801
        let body = #"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1","refresh_expires_in":3600}"#
        scene.issuer.answer(.init(body))
        #expect(try await scene.acquire().source == .refresh)
        #expect(try await scene.acquire().source == .cache)
        scene.clock.seconds += 1_801
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.tokenRequestCount == 2)
    }

    @Test func `a refresh token of unknown end is used in its access token's last minutes`()
        async throws
    {
        let scene = try OpenScene()
        scene.clock.seconds += 3_301
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1"}"#))
        #expect(try await scene.acquire().source == .refresh)
        scene.expire()
        scene.issuer.answer(.init(status: 400, #"{"error":"invalid_grant"}"#))
        #expect(try await scene.failure()?.needsInteraction == true)
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-1"])
    }

    @Test func `a refresh that is refused for want of a secret ends no session`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let body = #"{"error":"invalid_request","error_description":"client_secret is missing."}"#
        scene.issuer.answer(.init(status: 400, body))
        let error = try await scene.failure()
        #expect(error?.code == .clientMisconfigured)
        #expect(error?.remedy?.advice.hasSuffix("no secret is sent") == true)
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-0"])
    }

    @Test func `C91: an answer without ID token leaves the old one and the account`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        #expect(try await scene.acquire().idToken == nil)
        #expect(try await scene.acquire().source == .cache)
        #expect(scene.tokenRequestCount == 1)
        await #expect(try scene.store.idTokens(of: scene.account).first?.idToken.claims.name == "Mara")
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-0"])
    }

    @Test func `a 5xx that consumed the token has another error than an ended session`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 502, "<html>"), .init(status: 400, #"{"error":"invalid_grant"}"#))
        let error = try await scene.failure()
        #expect(error?.code == .possiblyConsumed)
        #expect(error?.refusal?.code == .invalidGrant)
        #expect(error?.sentAt?.unixSeconds == scene.clock.seconds)
        #expect(error?.program == "tests")
        #expect(error?.events.isEmpty == false)
        #expect(scene.tokenRequestCount == 2)
    }

    @Test func `a 5xx that consumed the token is harmless when the issuer repeats its answer`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(
            .init(status: 500),
            .init(#"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1"}"#)
        )
        #expect(try await scene.acquire().source == .refresh)
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-1"])
    }

    @Test(arguments: [(200, "\u{FEFF}"), (201, ""), (203, "\u{FEFF}")])
    func `a new refresh token is kept with any success, and behind a byte order mark`(
        status: Int,
        mark: String
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        let body = #"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1"}"#
        scene.issuer.answer(.init(status: status, mark + body))
        #expect(try await scene.acquire().source == .refresh)
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-1"])
    }

    @Test(arguments: [(200, "<html>"), (201, "<html>"), (202, "{}"), (203, "[]")])
    func `a success without tokens may have consumed the token`(status: Int, body: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: status, body), .init(status: 400, #"{"error":"invalid_grant"}"#))
        #expect(try await scene.failure()?.code == .unusableAnswer)
        #expect(try await scene.failure()?.code == .possiblyConsumed)
    }

    @Test func `an issuer without revocation and device endpoints is accepted`() async throws {
        let scene = try OpenScene()
        let (metadata, _) = try await MetadataDiscovery(transport: Scene.transport).metadata(of: scene.authority)
        #expect(metadata.revocationEndpoint == nil)
        #expect(metadata.deviceAuthorizationEndpoint == nil)
        #expect(try await scene.manager().signOut(scene.account) == .notOffered)
        await #expect(try scene.store.accounts().isEmpty)
    }

    @Test(arguments: [(401, #"{"error":"invalid_client"}"#, "invalid_client"), (403, "<html>", "403")])
    func `a public client that may not revoke can still sign out`(
        status: Int,
        body: String,
        reason: String
    ) async throws {
        let scene = try OpenScene()
        let endpoint = JSONValue.string(scene.issuer.issuer + "/revoke")
        scene.issuer.publish(JSONValue.Object([("revocation_endpoint", endpoint)]))
        scene.issuer.answer(.init(status: status, body), at: "/op/revoke")
        guard case .failed(let said) = try await scene.manager().signOut(scene.account) else {
            throw ExpectationFailure("a reason")
        }
        #expect(said.contains(reason))
        #expect(scene.issuer.forms("/op/revoke").first?["token"] == "rt-0")
        await #expect(try scene.store.accounts().isEmpty)
    }

    @Test func `a clock difference of minutes is found by the answer's Date header`() async throws {
        let scene = try OpenScene()
        scene.expire()
        // The issuer is ten minutes ahead: 1790003601 here is 1790004201 there, Mon, 21 Sep 2026 15:23:21 GMT.
        let ahead = scene.clock.seconds + 600
        let idToken = scene.idToken(at: ahead)
        let body = #"{"access_token":"at-1","expires_on":\#(ahead + 3_600),"id_token":"\#(idToken)"}"#
        scene.issuer.answer(.init(headers: ["Date: Mon, 21 Sep 2026 15:23:21 GMT"], body))
        let result = try await scene.acquire()
        #expect(result.accessToken.expiresAt == scene.clock.date + 3_600)
        #expect(result.idToken?.claims.issuedAt == Date(timeIntervalSince1970: TimeInterval(ahead)))
    }

    @Test func `without a Date an ID token from another time is refused, its refresh token kept`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let idToken = scene.idToken(at: scene.clock.seconds + 600)
        scene.issuer.answer(
            .init(#"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1","id_token":"\#(idToken)"}"#)
        )
        guard try await scene.failure()?.idTokenFlaw == .notYetValid else { throw ExpectationFailure("a flaw") }
        #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt-1"])
    }

    @Test func `a refresh token repeated in a refusal's description is not shown`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let body = #"{"error":"invalid_grant","error_description":"The token rt-0 has expired."}"#
        scene.issuer.answer(.init(status: 400, body))
        let error = try await scene.failure()
        let shown = String(describing: error) + String(reflecting: error)
        #expect(shown.contains("The token <redacted> has expired"))
        #expect(!shown.contains("rt-0"))
    }

    @Test(arguments: ["rt%2F0%2B", "rt%2f0%2b", "rt/0+"])
    func `a refresh token repeated in a refusal's code is neither shown nor stored`(
        echo: String
    ) async throws {
        let scene = try OpenScene { $0.refreshToken = Secret("rt/0+") }
        scene.expire()
        let body = #"{"error":"no_\#(echo)","suberror":"\#(echo)","error_description":"The token \#(echo) has ended."}"#
        scene.issuer.answer(.init(status: 400, body))
        for _ in 1...2 {
            let error = try await scene.failure()
            guard let refusal = error?.refusal else {
                throw ExpectationFailure("a refusal")
            }
            #expect(refusal.code == .unknown)
            #expect(refusal.suberror == nil)
            #expect(!String(reflecting: error).contains(echo))
        }
        #expect(scene.tokenRequestCount == 1)
        let outcomes = try await scene.store.events().map(\.outcome)
        #expect(outcomes.contains { $0.contains("unknown_error") })
        #expect(!outcomes.contains { $0.contains(echo) })
    }
}
