import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Copies to a store that holds nothing, and did before, or that takes its time.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct CopyTargetTests {
    /// A file with an account, and a sign-out of another that is gone.
    private func scene() throws -> (scene: CopyTests.Scene, gone: Account.ID) {
        let scene = try CopyTests.Scene(accounts: 2)
        let gone = try #require(try scene.file.store.accounts().last).id
        try scene.file.store.removeAccount(gone, client: "cid")
        #expect(try scene.file.store.signInState(of: gone, client: "cid") == .signedOut)
        // The first account that a store holds gives it a key of its own.
        try scene.server.open().save(ServerScene.response("u9", token: "a9"), for: ServerScene.request())
        return (scene, gone)
    }

    @Test func `a sign-out is remembered after a move to a store that was emptied`() throws {
        let (scene, gone) = try self.scene()
        #expect(try scene.server.open().purge(.all).accounts == 1)
        #expect(try scene.server.count("SELECT count(*) FROM mark_key") == 1)
        #expect(try scene.move().accounts == 1)
        let target = try scene.server.open()
        #expect(try target.signInState(of: gone, client: "cid") == .signedOut)
        #expect(try target.check() == [])
    }

    @Test func `a store that remembers sign-outs takes no copy, which could not be told beside its own`() throws {
        let (scene, gone) = try self.scene()
        let there = try scene.server.open()
        try there.removeAccount(try #require(try there.accounts().first).id)
        let error = #expect(throws: TokenStoreError.self) { try scene.move() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("remembers who signed out") == true, "\(error?.problem ?? "")")
        // It is refused before anything is frozen.
        #expect(try scene.file.store.status().movedTo == nil)
        #expect(try TokenStore.purgeAll(at: scene.server.location, options: scene.server.options).accounts == 0)
        #expect(try scene.move().accounts == 1)
        #expect(try scene.server.open().signInState(of: gone, client: "cid") == .signedOut)
    }

    @Test func `a sign-out during a move counts, also by a program whose clock is behind`() throws {
        let scene = try CopyTests.Scene(accounts: 3)
        let gone = try #require(try scene.file.store.accounts().last).id
        var options = scene.server.options
        options.now = { Date(timeIntervalSince1970: Double(Fixture.now) - 1) }
        var isGone = false
        let report = try scene.move { [options] progress in
            guard progress.unit == "accounts", !isGone else { return }
            isGone = true
            try TokenStore.open(at: scene.server.location, options: options).removeAccount(gone, client: "cid")
        }
        #expect(report.leftAlone == 1)
        #expect(report.accounts == 2)
        let target = try scene.server.open()
        #expect(try target.signInState(of: gone, client: "cid") == .signedOut)
        #expect(try !target.accounts().contains { $0.id == gone })
        #expect(try target.check() == [])
    }

    @Test func `a store that a copy has not filled says so once accounts are there`() throws {
        struct CutOff: Error {}
        let scene = try CopyTests.Scene(accounts: 70)
        func isFilling() throws -> Bool {
            let options = scene.server.options
            let inspection = try #require(try TokenStore.inspect(at: scene.server.location, options: options))
            #expect(try inspection.status().isFillingFromCopy == inspection.isFillingFromCopy())
            return try inspection.isFillingFromCopy()
        }
        #expect(try !isFilling())
        for (count, isFilled) in [(0, false), (64, true)] {
            #expect(throws: CutOff.self) {
                try scene.move { if $0.unit == "accounts", $0.done >= count { throw CutOff() } }
            }
            #expect(try isFilling() == isFilled)
            let plan = try TokenStore.planCopy(from: scene.server.location, reading: scene.server.options)
            #expect(plan.isPartial == isFilled)
        }
        try scene.move()
        #expect(try !isFilling())
        #expect(try !scene.file.store.isFillingFromCopy())
    }

    @Test func `a server waits for longer than fifteen seconds while the target writes`() throws {
        let scene = try CopyTests.Scene(accounts: 2)
        try scene.move()
        var isLate = false
        let report = try TokenStore.copy(
            from: scene.server.location,
            to: StoreLocation(StorePath(scene.file.directory.file("other/tokenstore.db"))),
            reading: scene.server.options,
            writing: scene.file.options,
            keepsSource: true
        ) { progress in
            guard progress.unit == "accounts", !isLate else { return }
            isLate = true
            sleep(16)
        }
        #expect(isLate)
        #expect(report.accounts == 2)
    }

    @Test(.enabled(if: Bouncer.program != nil, "pgbouncer is installed"), arguments: [false, true])
    func `a copy goes through a pooler with one session for both stores`(keepsSource: Bool) throws {
        let (source, target) = (try ServerScene(), try ServerScene())
        try source.createdStore().save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try target.create()
        let bouncer = try Bouncer(source.server, sessions: 1)
        let report = try TokenStore.copy(
            from: StoreLocation(bouncer.address(schema: source.schema)),
            to: StoreLocation(bouncer.address(schema: target.schema)),
            reading: source.options,
            writing: target.options,
            keepsSource: keepsSource
        )
        #expect(report.accounts == 1)
        #expect(report.refreshTokens == 1)
        #expect(try target.open().check() == [])
    }
}
