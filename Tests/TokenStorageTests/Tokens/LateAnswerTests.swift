import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Files of answers that are taken in behind what came later, or behind one another.
@Suite(.aboutFiles("a server has no files beside it"))
struct LateAnswerTests {
    @Test(arguments: [false, true])
    func `a sign-in that is put back is ignored, however much was recorded since`(signsInAgain: Bool) throws {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        _ = try fixture.another().write { _ in try fixture.signIn(.signIn(["refresh_token": "planted-r2"])) }
        let name = try #require(try PendingFile.all(of: fixture.path).first?.name)
        let content = try Data(contentsOf: URL(filePath: name))
        try fixture.store.takeInAnswers()
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        if signsInAgain { try fixture.signIn(.signIn(["refresh_token": "r3"])) }
        try fixture.store.write { session in
            for _ in 0...StoreEvent.limit { try session.record(.import, outcome: "1 entries") }
        }
        try content.write(to: URL(filePath: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
        try fixture.store.takeInAnswers()
        let tokens = try fixture.store.refreshTokens(of: Fixture.account, client: "cid").map { $0.secret.reveal() }
        #expect(tokens == (signsInAgain ? ["r3"] : []))
        #expect(!FileManager.default.fileExists(atPath: name))
    }
    @Test(arguments: [0, 10], [false, true])
    func `of two sign-ins that wait the second is kept, and both tokens`(seconds: Int64, isApart: Bool) throws {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
        }
        try fixture.take(.standardCache(.accessToken("a", "s0")))
        func signIn(_ number: Int) throws -> String {
            let before = try PendingFile.all(of: fixture.path).map(\.name)
            try fixture.another().write { _ in
                let answer = try TokenResponse.signIn([
                    "access_token": .string("a\(number)"), "refresh_token": .string("r\(number)"),
                    "scope": .string("s\(number)"),
                ])
                _ = try fixture.signIn(answer, scope: Scope("s\(number)"))
            }
            return try #require(try PendingFile.all(of: fixture.path).map(\.name).first { !before.contains($0) })
        }
        let store = try fixture.another()
        _ = try signIn(1)
        fixture.clock.seconds += seconds
        let second = try signIn(2)
        if isApart {
            try FileManager.default.moveItem(atPath: second, toPath: second + ".away")
            try store.takeInAnswers()
            try FileManager.default.moveItem(atPath: second + ".away", toPath: second)
        }
        try store.takeInAnswers()
        #expect(try PendingFile.all(of: fixture.path).isEmpty)
        let secrets = try store.rows("AccessToken").map { $0["secret"].text ?? "" }
        #expect(Set(secrets).isSuperset(of: ["a1", "a2"]))
        let tokens = try store.refreshTokens(of: Fixture.account, client: "cid").map { $0.secret.reveal() }
        // Of one second nobody can tell which came first, unless they are taken in by turns.
        if seconds > 0 || isApart { #expect(tokens == ["r2"]) }
    }
}
