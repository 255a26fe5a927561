import Foundation
import LocalIdentityProvider
import TestTraits
import Testing

/// Every error of a token endpoint as the program meets it: exit status, sentence, and what stays in the store.
@Suite(.onWaitingThreads)
struct TokenRefusalTests {
    /// An error of the table and its consequence.
    struct Refused: Sendable, CustomTestStringConvertible {
        let error: String
        var suberror: String?
        var number: Int?
        var status = 400

        let exit: Int32

        /// What to do, behind `the issuer answered …: No`.
        var hint = "sign in again"

        /// The whole sentence where it is another.
        var sentence: String?
        var rows = StoredRows.all

        var testDescription: String {
            ([error, suberror] + [number.map(String.init)]).compactMap(\.self).joined(separator: " ")
        }

        var body: String {
            let more = suberror.map { #","suberror":"\#($0)""# } ?? ""
            return #"{"error":"\#(error)"\#(more),"error_codes":[\#(number ?? 0)],"error_description":"No."}"#
        }

        var line: String {
            let name = suberror.map { "\(error)/\($0)" } ?? error
            return "tokenstore: error: \(sentence ?? "the issuer answered \(name): No; \(hint)")\n"
        }
    }

    static let table: [Refused] = [
        .init(error: "interaction_required", exit: 4),
        .init(error: "invalid_grant", exit: 4),
        .init(error: "invalid_grant", suberror: "bad_token", exit: 4, rows: .withoutRefreshToken),
        .init(error: "invalid_grant", suberror: "token_expired", exit: 4),
        .init(
            error: "invalid_grant",
            suberror: "user_account_deleted",
            exit: 4,
            sentence: "the issuer no longer knows the account; sign in with another",
            rows: .none
        ),
        .init(error: "invalid_grant", suberror: "client_mismatch", exit: 4),
        .init(error: "invalid_grant", suberror: "consent_required", exit: 4),
        .init(error: "invalid_grant", suberror: "basic_action", exit: 4),
        .init(error: "invalid_grant", suberror: "additional_action", exit: 4),
        .init(error: "invalid_grant", suberror: "message_only", exit: 4),
        .init(error: "invalid_grant", suberror: "user_password_expired", exit: 4),
        .init(error: "invalid_grant", suberror: "insufficient_device_strength", exit: 4),
        .init(
            error: "unauthorized_client",
            suberror: "protection_policy_required",
            exit: 4,
            hint: "meet the organisation's policy on this device, then sign in again"
        ),
        .init(error: "unauthorized_client", exit: 1, hint: "check the client id and its registration"),
        .init(error: "invalid_request", exit: 1, hint: "check the client id and its registration"),
        .init(error: "invalid_request", number: 50_142, exit: 4, hint: "sign in again and choose a new password"),
        .init(
            error: "invalid_client",
            status: 401,
            exit: 1,
            hint: "check the client id, and that it is registered as public: no secret is sent"
        ),
        .init(error: "invalid_scope", exit: 1, hint: "check the scopes that are asked for"),
        .init(error: "access_denied", exit: 4),
        .init(error: "server_error", exit: 8, sentence: "the issuer answered server_error; try again in 60 s"),
        .init(
            error: "temporarily_unavailable",
            exit: 8,
            sentence: "the issuer answered temporarily_unavailable; try again in 60 s"
        ),
        .init(error: "moon_phase", suberror: "waning", exit: 4),
        .init(error: "interaction_required", status: 200, exit: 4),
    ]

    @Test func `a guest is told to name the only tenant in which the account was seen`() throws {
        var person = CachedUser.mara
        (person.policy, person.environment) = (nil, "login.microsoftonline.com")
        let guest = "b0000000-0000-4000-8000-000000000001"
        for (option, status) in [("--cached", 8), ("--quiet", 4)] as [(String, Int32)] {
            let scratch = try ScratchDirectory()
            person.hasRefreshToken = option == "--cached"
            let cache = try CachedUser.cache([person])
            let visited = cache.replacing("\"realm\":\"\(person.tenant)\"", with: "\"realm\":\"\(guest)\"")
            #expect(try scratch.run("import", input: visited).status == 0)
            let refused = try scratch.run("token", "--scope", "tasks.read", option)
            #expect(refused.status == status, "\(refused.error)")
            let hint = "; add --tenant \(guest), the only tenant in which the account was seen\n"
            #expect(refused.error.hasSuffix(hint), "\(refused.error)")
            let explained = try scratch.run("explain", "--scope", "tasks.read", option).output
            #expect(explained.contains(hint.dropLast()), "\(explained)")
            let token = try scratch.run("token", "--scope", "tasks.read", option, "--tenant", guest)
            #expect(token.output == person.secret("access") + "\n", "\(token.error)")
        }
    }

    @Test(arguments: table)
    func `each error of the table has its exit status, text and effect on the store`(
        refused: Refused
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.answer(status: refused.status, body: refused.body, at: "token"))
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == refused.exit)
            #expect(outcome.error.withoutCommand == refused.line)
            #expect(outcome.output.isEmpty)
            #expect(scene.tokenRequestCount == 1)
            #expect(try scene.rows == refused.rows)
        }
    }

    @Test func `a refusal with Retry-After asks for a person`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let refused = Refused(error: "invalid_grant", exit: 4)
            var fault = Fault.answer(status: 400, body: refused.body, at: "token")
            fault.retryAfter = "120"
            scene.provider.faults.add(fault)
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 4)
            #expect(outcome.error.withoutCommand == refused.line)
            #expect(scene.tokenRequestCount == 1)
            #expect(try scene.rows == .all)
        }
    }

    @Test func `with --json an error has the account, the issuer, the suberror and when to try again`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let refused = Refused(error: "invalid_grant", suberror: "basic_action", exit: 4)
            var fault = Fault.answer(status: 400, body: refused.body, at: "token")
            fault.retryAfter = "120"
            scene.provider.faults.add(fault)
            let outcome = try await scene.tokens(1, "--json")[0]
            let error = try outcome.errorJSON
            let account = try #require(error["account"] as? [String: String])
            #expect(outcome.status == 4)
            #expect(error["suberror"] as? String == "basic_action")
            #expect(error["retryAfter"] as? Int == 120)
            #expect((error["issuer"] as? String)?.hasPrefix(scene.provider.baseURL) == true)
            #expect(account.keys.sorted() == ["homeAccountId", "username"])
        }
    }

    @Test func `a refresh token that the issuer called expired is not sent again`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"invalid_grant","suberror":"token_expired"}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            for _ in 1...2 { #expect(try await scene.tokens(1)[0].status == 4) }
            let again = try await scene.tokens(1)[0]
            #expect(
                again.error.withoutCommand == "tokenstore: error: the issuer has ended the session; sign in again\n"
            )
            #expect(scene.tokenRequestCount == 1)
        }
    }
}

extension String {
    /// The line without the command that signs in again, which depends on the issuer's port.
    fileprivate var withoutCommand: String {
        [" with 'tokenstore login ", ": 'tokenstore login ", ": 'tokenstore reset-password "].lazy
            .compactMap { firstRange(of: $0) }.first
            .map { self[..<$0.lowerBound] + "\n" } ?? self
    }
}
