import Foundation
import LocalIdentityProvider
import TestTraits
import Testing

/// An issuer that breaks in every way, as the program meets it.
@Suite(.onWaitingThreads)
struct BrokenIssuerTests {
    /// What goes wrong at the token endpoint beside OAuth's errors.
    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let faults: [Fault]
        let exit: Int32

        /// What standard error has to contain.
        let sentence: String
        var rows = StoredRows.all
    }

    static let broken: [Broken] = [
        .init(
            testDescription: "503 twice",
            faults: [.status(503, at: "token", times: 2)],
            exit: 8,
            sentence: "the issuer answered 503; try again in 60 s"
        ),
        .init(
            testDescription: "429",
            faults: [.tooManyRequests(seconds: 30, at: "token")],
            exit: 8,
            sentence: "the issuer was asked too often; try again in 30 s"
        ),
        .init(
            testDescription: "408",
            faults: [.answer(status: 408, body: "", at: "token")],
            exit: 8,
            sentence: "the issuer answered 408; try again in 60 s"
        ),
        .init(
            testDescription: "slow_down",
            faults: [.answer(status: 400, body: #"{"error":"slow_down"}"#, at: "token")],
            exit: 8,
            sentence: "the issuer answered slow_down; try again in 60 s"
        ),
        .init(
            testDescription: "HTML",
            faults: [.html(at: "token", times: 2)],
            exit: 8,
            sentence: "the issuer answered 502; try again in 60 s"
        ),
        .init(
            testDescription: "403",
            faults: [.answer(status: 403, body: "<html>", at: "token")],
            exit: 1,
            sentence: "the token endpoint answered 403 without JSON; check the authority, and any proxy in front of it"
        ),
        .init(
            testDescription: "an empty 401",
            faults: [.answer(status: 401, body: "", at: "token")],
            exit: 1,
            sentence: "the token endpoint answered 401 without JSON; check the client id, that its registration"
        ),
        .init(
            testDescription: "an empty 400",
            faults: [.emptyBadRequest(at: "token")],
            exit: 4,
            sentence: "the issuer refused the refresh token with status 400; sign in again"
        ),
        .init(
            testDescription: "a proxy's 400",
            faults: [.answer(status: 400, body: "<html>", at: "token")],
            exit: 1,
            sentence: "the token endpoint answered 400 without JSON; check the authority, and any proxy in front of it"
        ),
        .init(
            testDescription: "a redirect",
            faults: [.answer(status: 307, body: "", at: "token")],
            exit: 1,
            sentence: "the token endpoint answered 307 without JSON"
        ),
        .init(
            testDescription: "more than a megabyte",
            faults: [.answer(body: String(repeating: "x", count: 1 << 21), at: "token")],
            exit: 1,
            sentence: "is larger than 1048576 bytes; check the address"
        ),
        .init(
            testDescription: "no answer, and a token that was spent for nothing",
            faults: [.lostResponse(at: "token")],
            exit: 4,
            sentence: "which tokenstore may have spent before, when it got no answer that it could use; sign in again",
            rows: .withoutRefreshToken
        ),
        .init(
            testDescription: "a body cut short, and a token that was spent for nothing",
            faults: [.truncatedBody(at: "token")],
            exit: 4,
            sentence: "which tokenstore may have spent before, when it got no answer that it could use; sign in again",
            rows: .withoutRefreshToken
        ),
        .init(
            testDescription: "a 5xx that has spent the token",
            faults: [.status(500, at: "token", takesEffect: true)],
            exit: 4,
            sentence: "which tokenstore may have spent before, when it got no answer that it could use; sign in again",
            rows: .withoutRefreshToken
        ),
        .init(
            testDescription: "an ID token for another client",
            faults: [.wrongIDToken(.audience)],
            exit: 1,
            sentence: "the issuer's ID token is for another client; check the authority, then sign in again"
        ),
        .init(
            testDescription: "the tokens of another account",
            faults: [
                .answer(body: #"{"access_token":"a","client_info":"eyJ1aWQiOiJ1IiwidXRpZCI6InQifQ"}"#, at: "token")
            ],
            exit: 1,
            sentence: "the issuer answered with the tokens of another account; try again, and report it to the operator"
        ),
        .init(
            testDescription: "no metadata",
            faults: [.answer(status: 404, body: "", at: "metadata")],
            exit: 1,
            sentence: "which answered 404; check the address, and its tenant and user flow where it has them"
        ),
        .init(
            testDescription: "a token endpoint elsewhere",
            faults: [
                .answer(body: #"{"issuer":"https://a","token_endpoint":"https://login.example/t"}"#, at: "metadata")
            ],
            exit: 4,
            sentence: "the token endpoint is outside the account's cloud and was not used; sign in again"
        ),
    ]

    @Test(arguments: broken)
    func `R10: any bad answer of a token endpoint is a clear error and loses nothing`(
        broken: Broken
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            for fault in broken.faults { scene.provider.faults.add(fault) }
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == broken.exit, "\(outcome)")
            #expect(outcome.error.contains(broken.sentence), "\(outcome)")
            #expect(outcome.error.split(separator: "\n").count == 1)
            #expect(outcome.output.isEmpty)
            #expect(try scene.rows == broken.rows)
        }
    }

    @Test(arguments: [
        Fault.status(503, at: "token", times: 2), .tooManyRequests(seconds: 30, at: "token"),
        .answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token"), .lostResponse(at: "token", times: 2),
        .answer(body: "", at: "token"),
    ])
    func `R10: an aging token is returned when the refresh fails`(
        fault: Fault
    ) async throws {
        try await IssuerScene.open(lifetime: 3_600, isAging: true) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(fault)
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output.split(separator: ".").count == 3, "\(outcome.error)")
            #expect(outcome.error.contains("the refresh failed") || outcome.error.contains("sign in again before"))
            #expect(scene.tokenRequestCount > 0)
        }
    }

    @Test func `processes with a good token do not ask again for a minute after an answer was lost`() async throws {
        try await IssuerScene.open(lifetime: 3_600, isAging: true) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.lostResponse(at: "token", times: 2))
            #expect(try await scene.tokens(1)[0].status == 0)
            let asked = scene.tokenRequestCount
            #expect(asked > 0)
            for outcome in try await scene.tokens(3) {
                #expect(outcome.status == 0, "\(outcome.error)")
                #expect(outcome.error.contains("the refresh failed"), "\(outcome.error)")
            }
            #expect(scene.tokenRequestCount == asked)
        }
    }
}
