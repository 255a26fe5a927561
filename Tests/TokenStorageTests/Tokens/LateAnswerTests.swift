import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// The file of an answer that is put back when the record of use no longer reaches back to it.
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
}
