import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// An answer that is under way, or waits in a file, while a backup is put in the place of the store.
@Suite(.aboutFiles("a server has no files beside it"))
struct RestoredAnswerTests {
    private func scene() throws -> TestStore { try PendingAnswerTests().scene() }

    /// Restores a backup from before the last three refreshes, the answer to the last of which waits in a file.
    ///
    /// - Returns: the name of the file, and what is in it.
    private func restore(_ fixture: TestStore) throws -> (name: String, content: Data) {
        let backup = fixture.directory.file("b.db")
        _ = try fixture.store.backUp(to: backup)
        for token: JSONValue in ["r1", "r2"] {
            fixture.clock.seconds += 10
            try fixture.refresh(.signIn(["refresh_token": token]))
        }
        fixture.clock.seconds += 10
        let other = try fixture.another()
        try other.write { _ in _ = try fixture.refresh(.signIn(["refresh_token": "r3"])) }
        other.close()
        fixture.store.close()
        let name = try #require(try PendingFile.all(of: fixture.path).first).name
        let content = try Data(contentsOf: URL(filePath: name))
        _ = try TokenStore.restore(from: backup, to: fixture.path, options: fixture.options)
        return (name, content)
    }

    /// Restores a backup from before two refreshes while a third one is under way.
    ///
    /// - Returns: the token that was sent, and the room for the answer.
    private func restoreMeanwhile(_ fixture: TestStore) throws -> (used: StoredRefreshToken, space: AnswerSpace) {
        let backup = fixture.directory.file("b.db")
        _ = try fixture.store.backUp(to: backup)
        for token: JSONValue in ["r1", "r2"] {
            fixture.clock.seconds += 10
            try fixture.refresh(.signIn(["refresh_token": token]))
        }
        let sent = (used: try fixture.currentRefreshToken(), space: try fixture.store.reserveAnswerSpace())
        fixture.store.close()
        fixture.clock.seconds += 10
        _ = try TokenStore.restore(from: backup, to: fixture.path, options: fixture.options)
        return sent
    }

    private static func refresh() throws -> TokenRequest {
        TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(parsing: "https://login.microsoftonline.com/t1"),
            scope: "s1",
            grant: .refreshToken
        )
    }

    /// Stores the answer to a refresh, with the refresh token r3.
    private func answer(_ sent: (used: StoredRefreshToken, space: AnswerSpace), to fixture: TestStore) throws {
        let response = try TokenResponse.signIn(["refresh_token": "r3"])
        try fixture.store.save(response, for: Self.refresh(), refreshing: sent.used, in: sent.space)
    }

    @Test(arguments: [true, false])
    func `an answer that comes behind a restore is newer than the token of a backup`(isTimed: Bool) throws {
        let fixture = try scene()
        var sent = try restoreMeanwhile(fixture)
        if !isTimed {
            // As an import, or a file of a program of before, brings it.
            sent.used = StoredRefreshToken(
                secret: sent.used.secret,
                clientID: sent.used.clientID,
                familyID: sent.used.familyID,
                account: sent.used.account,
                modifiedAt: nil,
                scope: sent.used.scope,
                rowID: sent.used.rowID,
                generation: sent.used.generation
            )
        }
        try answer(sent, to: fixture)
        #expect(try refreshTokens(fixture.store) == ["r3"])
        #expect(try fixture.store.check() == [])
    }

    @Test func `a sign-in behind a restore is newer than an answer that comes behind both`() throws {
        let fixture = try scene()
        let sent = try restoreMeanwhile(fixture)
        try fixture.signIn(.signIn(["refresh_token": "r9"]))
        fixture.clock.seconds += 10
        try answer(sent, to: fixture)
        #expect(try refreshTokens(fixture.store) == ["r9"])
    }

    private func refreshTokens(_ store: TokenStore) throws -> [String] {
        try store.refreshTokens(of: Fixture.account, client: "cid").map { $0.secret.reveal() }
    }

    @Test func `an answer that waits is newer than the token of a backup`() throws {
        let fixture = try scene()
        _ = try restore(fixture)
        let store = try fixture.another()
        #expect(try refreshTokens(store) == ["r3"])
        #expect(try fixture.path.pendingAnswers().isEmpty)
        #expect(try store.check() == [])
    }

    @Test func `an answer that waits knows when the token was stored that it was given for`() throws {
        let fixture = try scene()
        try fixture.refresh(.signIn(["refresh_token": "r1"]))
        let used = try fixture.currentRefreshToken()
        let response = try TokenResponse.signIn(["refresh_token": "r2"])
        let answer = try PendingAnswer(response, for: Self.refresh(), refreshing: used, at: Fixture.now)
        let waiting = try answer.encoded().withUnsafeBytes { try PendingAnswer(decoding: $0) }
        let stored = try #require(used.modifiedAt)
        #expect(waiting.used?.modifiedAt == stored)
    }

    @Test func `a sign-in behind a restore is newer than an answer that waits`() throws {
        let fixture = try scene()
        let (name, content) = try restore(fixture)
        try FileManager.default.removeItem(atPath: name)
        fixture.clock.seconds += 10
        try fixture.signIn(.signIn(["refresh_token": "r9"]))
        try content.write(to: URL(filePath: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
        try fixture.store.takeInAnswers()
        #expect(try refreshTokens(fixture.store) == ["r9"])
        #expect(try fixture.path.pendingAnswers().isEmpty)
    }

    @Test(arguments: [false, true])
    func `a session that began again in the same store is newer than an answer that waits`(isImported: Bool) throws {
        let fixture = try scene()
        for token: JSONValue in ["r1", "r2"] { try fixture.refresh(.signIn(["refresh_token": token])) }
        let other = try fixture.another()
        try other.write { _ in _ = try fixture.refresh(.signIn(["refresh_token": "r3"])) }
        let name = try #require(try PendingFile.all(of: fixture.path).first).name
        let content = try Data(contentsOf: URL(filePath: name))
        try FileManager.default.removeItem(atPath: name)
        _ = try other.purge(.all)
        if isImported {
            try other.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        } else {
            try fixture.signIn(.signIn(["refresh_token": "r1"]))
        }
        fixture.clock.seconds += 10
        try content.write(to: URL(filePath: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
        try other.takeInAnswers()
        #expect(try refreshTokens(other) == ["r1"])
    }
}
