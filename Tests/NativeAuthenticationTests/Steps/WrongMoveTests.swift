import Foundation
import TestSupport
import TestTraits
import Testing

/// What an app cannot write: the compiler is asked, with the modules that these tests were built with.
@Suite(
    .onWaitingThreads,
    .tags(.slow),
    .ifSlowTestsAreWanted,
    .enabled(if: Compiler.isInstalled, "needs swiftc on the PATH")
)
struct WrongMoveTests {
    /// The only moves that are legal in each state.
    private static let moves: [(state: String, legal: Set<String>)] = [
        ("SignInCodeRequiredState", ["submitCode", "resendCode"]),
        ("SignInPasswordRequiredState", ["submitPassword"]),
        ("SignUpCodeRequiredState", ["submitCode", "resendCode"]),
        ("SignUpPasswordRequiredState", ["submitPassword"]),
        ("SignUpAttributesRequiredState", ["submitAttributes"]),
        ("SignInAfterSignUpState", ["signIn"]),
        ("ResetPasswordCodeRequiredState", ["submitCode", "resendCode"]),
        ("ResetPasswordRequiredState", ["submitPassword"]),
        ("SignInAfterResetPasswordState", ["signIn"]),
        ("AwaitingMFAState", ["requestChallenge"]),
        ("MFARequiredState", ["requestChallenge", "submitChallenge"]),
        ("RegisterStrongAuthState", ["challengeAuthMethod"]),
        ("RegisterStrongAuthVerificationRequiredState", ["challengeAuthMethod", "submitChallenge"]),
    ]

    @Test func `a move that a state does not allow does not compile`() throws {
        let all = Self.moves.reduce(into: Set<String>()) { $0.formUnion($1.legal) }.sorted()
        let pairs = Self.moves.flatMap { row in all.map { (state: row.state, move: $0, legal: row.legal) } }
        let lines = pairs.map { "func move(_ state: \($0.state)) { _ = state.\($0.move) }" }
        let refused = try Compiler().refusals(of: lines) { $0.contains("has no member") }
        #expect(refused == pairs.indices.filter { !pairs[$0].legal.contains(pairs[$0].move) })
    }

    @Test func `a state cannot be created outside the library`() throws {
        let lines = Self.moves.map { "func make() -> \($0.state) { \($0.state)() }" }
        let refused = try Compiler().refusals(of: lines) { $0.contains("inaccessible due to") }
        #expect(refused == Array(lines.indices))
    }

    @Test func `what writes to a store does not compile with an inspection of it`() throws {
        let writes = [
            "save", "removeAccount", "removeRefreshToken", "purge", "purgeExpired", "importMSALCache", "rekey",
            "changes",
        ]
        let lines = (writes + ["path"]).map { "func use(_ store: StoreInspection) { _ = store.\($0) }" }
        let refused = try Compiler().refusals(of: lines, importing: "TokenStorage") { $0.contains("has no member") }
        #expect(refused == Array(writes.indices))
    }

    @Test func `a switch over a result that leaves a case out does not compile`() throws {
        let lines = [
            "func end(_ step: SignInResult) { switch step { case .completed: break } }",
            "func end(_ step: SignUpStartResult) { switch step { case .codeRequired: break } }",
        ]
        #expect(try Compiler().refusals(of: lines) { $0.contains("switch must be exhaustive") } == [0, 1])
    }
}
