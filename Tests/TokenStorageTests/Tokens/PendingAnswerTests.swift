import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Promise 12: an answer that the store cannot take is kept in a sealed file until it can.
@Suite(.aboutFiles("a server has no files beside it"))
struct PendingAnswerTests {
    enum Kind: CaseIterable {
        case refresh, signIn
    }

    /// A store with a session, whose waits are short.
    func scene() throws -> TestStore {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        return fixture
    }

    /// Stores new tokens while another process holds the store; they end up in a file.
    private func storeWhileHeld(_ kind: Kind, _ fixture: TestStore) throws -> SavedTokens {
        let other = try fixture.another()
        return try other.write { _ in
            let response = try TokenResponse.signIn(["access_token": "planted-new", "refresh_token": "planted-r2"])
            return kind == .refresh ? try fixture.refresh(response) : try fixture.signIn(response)
        }
    }

    private func files(_ fixture: TestStore) throws -> [String] { try PendingFile.all(of: fixture.path).map(\.name) }

    private func refreshTokens(_ store: TokenStore) throws -> [String] {
        try store.refreshTokens(of: Fixture.account, client: "cid").map { $0.secret.reveal() }
    }

    @Test(arguments: Kind.allCases)
    func `an answer that a locked store cannot take is saved by the next process`(kind: Kind) throws {
        let fixture = try scene()
        let before = try fixture.store.exportedText()
        let saved = try storeWhileHeld(kind, fixture)
        guard case .pending = saved.outcome else {
            Issue.record("\(saved.outcome)")
            return
        }
        #expect(saved.accessToken?.secret.reveal() == "planted-new")
        #expect(saved.account == Fixture.account)
        #expect(try fixture.store.exportedText() == before)
        #expect(try files(fixture).count == 1)
        #expect(try fixture.store.status().pendingAnswers.count == 1)

        let next = try fixture.another()
        #expect(try refreshTokens(next) == ["planted-r2"])
        #expect(try files(fixture).isEmpty)
        #expect(try next.rows("AccessToken").map { $0["secret"] } == ["planted-new"])
        #expect(try next.check() == [])
    }

    @Test func `a sign-in answered for another user flow is refused, and no file keeps it`() throws {
        let fixture = try scene()
        let response = try TokenResponse.signIn(["client_info": .string(Fixture.clientInfo("o1-b2c_1_edit", "t9"))])
        let error = #expect(throws: TokenStoreError.self) {
            try fixture.another().write { _ in
                try fixture.signIn(response, at: "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SignIn")
            }
        }
        #expect(error?.code == .otherAccount)
        #expect(try files(fixture).isEmpty)
    }

    @Test func `a store that is locked for a moment saves the answer`() throws {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .seconds(30)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        let (held, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let other = try fixture.another()
        Thread.detachNewThread { [fixture] in
            do {
                try other.write { _ in
                    held.signal()
                    while try PendingFile.all(of: fixture.path).isEmpty { usleep(1_000) }
                }
            } catch {
                Issue.record(error)
            }
            done.signal()
        }
        held.wait()
        #expect(try fixture.refresh(.signIn(["refresh_token": "r2"])).outcome == .stored)
        done.wait()
        #expect(try files(fixture).isEmpty)
        #expect(try refreshTokens(fixture.store) == ["r2"])
    }

    @Test func `a pending file is private and shows no secret`() throws {
        let fixture = try scene()
        _ = try storeWhileHeld(.signIn, fixture)
        let name = try #require(try files(fixture).first)
        let mode = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        for secret in ["planted-new", "planted-r2"] {
            #expect(snapshot.names(holding: Data(secret.utf8)) == [])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a pending answer is saved once, also when its file comes back`(kind: Kind) throws {
        let fixture = try scene()
        _ = try storeWhileHeld(kind, fixture)
        let copy = try Copy(of: try files(fixture)[0])
        try fixture.store.takeInAnswers()
        let after = try fixture.store.exportedText()
        try copy.bringBack()
        try fixture.store.takeInAnswers()
        #expect(try fixture.store.exportedText() == after)
        try fixture.refresh(.signIn(["access_token": "newer", "refresh_token": "r3"]))
        try copy.bringBack()
        try fixture.store.takeInAnswers()
        #expect(try refreshTokens(fixture.store) == ["r3"])
        #expect(try files(fixture).isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a sign-out deletes the account's pending files`(kind: Kind) throws {
        let fixture = try scene()
        _ = try storeWhileHeld(kind, fixture)
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        #expect(try files(fixture).isEmpty)
        #expect(try fixture.another().accounts().isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a sign-out wins over a pending file that it did not see`(kind: Kind) throws {
        let fixture = try scene()
        _ = try storeWhileHeld(kind, fixture)
        let copy = try Copy(of: try files(fixture)[0])
        try FileManager.default.removeItem(atPath: copy.name)
        try fixture.store.removeAccount(Fixture.account, client: "cid")
        try copy.bringBack()
        #expect(try fixture.another().accounts().isEmpty)
        #expect(try files(fixture).isEmpty)
    }

    @Test func `a sign-in that was answered behind a purge is not lost when it has to wait`() throws {
        let fixture = try scene()
        let space = try fixture.store.reserveAnswerSpace()
        _ = try fixture.store.purge(.all)
        fixture.clock.seconds += 10
        let response = try TokenResponse.signIn(["refresh_token": "r9"])
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(parsing: "https://login.microsoftonline.com/t1"),
            scope: "s1",
            grant: .authorizationCode
        )
        let other = try fixture.another()
        try other.write { _ in _ = try fixture.store.save(response, for: request, in: space) }
        #expect(try files(fixture).count == 1)
        let next = try fixture.another()
        #expect(try refreshTokens(next) == ["r9"])
        #expect(try files(fixture).isEmpty)
    }

    @Test func `a pending sign-in does not overwrite a newer one`() throws {
        let fixture = try scene()
        _ = try storeWhileHeld(.signIn, fixture)
        try fixture.signIn(.signIn(["access_token": "newer", "refresh_token": "r3"]))
        let next = try fixture.another()
        #expect(try refreshTokens(next) == ["r3"])
        #expect(try files(fixture).isEmpty)
    }

    @Test func `a pending token's lifetime is counted from the arrival of its answer`() throws {
        let fixture = try scene()
        let saved = try storeWhileHeld(.signIn, fixture)
        fixture.clock.seconds += 1_000
        let next = try fixture.another()
        #expect(try next.rows("AccessToken").first?["expires_on"].text == "\(Fixture.now + 3_600)")
        #expect(saved.accessToken?.expiresAt.timeIntervalSince1970 == Double(Fixture.now + 3_600))
    }

    @Test(arguments: [false, true])
    func `purging everything deletes pending files by name, also when the store is damaged`(isDamaged: Bool) throws {
        let fixture = try scene()
        _ = try storeWhileHeld(.signIn, fixture)
        let name = try #require(try files(fixture).first)
        if isDamaged {
            try DamagedFile(fixture.path.database).change {
                $0.replaceSubrange(100..<4_096, with: [UInt8](repeating: 7, count: 3_996))
            }
        }
        for dryRun in [true, false] {
            let counts = try TokenStore.purgeAll(at: fixture.path, options: fixture.options, dryRun: dryRun)
            #expect(counts.removedFiles.last == name, "\(counts.removedFiles)")
        }
        #expect(try files(fixture).isEmpty)
    }

    @Test func `a rekey saves pending answers under the old key`() throws {
        let fixture = try scene()
        _ = try storeWhileHeld(.refresh, fixture)
        _ = try fixture.another().rekey()
        #expect(try files(fixture).isEmpty)
        #expect(try refreshTokens(fixture.store) == ["planted-r2"])
    }

    @Test func `a pending file that cannot be opened is kept, named and blocks no other`() throws {
        let fixture = try scene()
        _ = try storeWhileHeld(.refresh, fixture)
        let file = DamagedFile(try files(fixture)[0])
        let whole = try file.bytes()
        let broken = fixture.path.pendingPrefix + "0000000000000001"
        #expect(
            FileManager.default.createFile(
                atPath: broken,
                contents: Data(whole),
                attributes: [.posixPermissions: 0o600]
            )
        )
        let next = try fixture.another()
        #expect(try refreshTokens(next) == ["planted-r2"])
        #expect(try files(fixture) == [broken])
        let problems = try next.check()
        #expect(problems.count == 1)
        #expect(try #require(problems.first).location.contains(broken))
    }

    @Test func `a pending file of another store is left alone`() throws {
        let (fixture, stranger) = (try scene(), try scene())
        _ = try storeWhileHeld(.refresh, stranger)
        let name = try #require(try files(stranger).first)
        let moved = fixture.path.pendingPrefix + name.suffix(16)
        try FileManager.default.copyItem(atPath: name, toPath: moved)
        let before = try fixture.store.exportedText()
        let next = try fixture.another()
        #expect(try next.exportedText() == before)
        #expect(try files(fixture) == [moved])
        #expect(try next.check().first?.problem.contains("belongs to another store") == true)
    }

    @Test func `room that was not needed is taken again, by one request`() throws {
        let fixture = try scene()
        let file = try fixture.store.reserveAnswerSpace().file
        let first = try fixture.store.reserveAnswerSpace()
        let second = try fixture.store.reserveAnswerSpace()
        #expect(first.file == file)
        #expect(second.file != file)
    }

    @Test func `room that holds an answer is not taken again`() throws {
        let fixture = try scene()
        let file = try #require(
            try {
                let space = try fixture.store.reserveAnswerSpace()
                try space.publish(Array("answer".utf8))
                return space.file
            }()
        )
        #expect(try fixture.store.reserveAnswerSpace().file != file)
        #expect(try Data(contentsOf: URL(filePath: file.name)) == Data("answer".utf8))
    }

    @Test func `a closing store waits for its answers and begins no request`() async throws {
        let fixture = try scene()
        let space = LockedValue<AnswerSpace?>(try fixture.store.reserveAnswerSpace())
        #expect(fixture.store.isExpectingAnswer)
        #expect(fixture.store.refuseFurtherAnswers())
        #expect(throws: CancellationError.self) { try fixture.store.reserveAnswerSpace() }
        async let end: Void = fixture.store.finishAnswers()
        space.withLock { $0 = nil }
        await end
        #expect(!fixture.store.isExpectingAnswer)
    }
}

/// A file that is put back after it was removed.
private struct Copy {
    let name: String
    private let content: Data

    init(of name: String) throws {
        self.name = name
        content = try Data(contentsOf: URL(filePath: name))
    }

    func bringBack() throws {
        try content.write(to: URL(filePath: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
    }
}
