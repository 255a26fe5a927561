import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A copy that runs again: after its end, after it was cut off, and beside programs that use the target already.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct CopyAgainTests {
    private struct CutOff: Error {}

    /// A file with accounts, and a target on an engine.
    private struct Scene {
        let source: CopyTests.Scene
        let target: StoreLocation
        let options: StoreOptions

        init(to engine: StoreEngine, accounts: Int = 3) throws {
            source = try CopyTests.Scene(accounts: accounts)
            if engine == .server {
                (target, options) = (try source.server.location, source.server.options)
            } else {
                target = StoreLocation(StorePath(source.file.directory.file("other/tokenstore.db")))
                options = source.file.options
            }
        }

        @discardableResult
        func copy(keepsSource: Bool = false, progress: TokenStore.ProgressHandler? = nil) throws -> CopyReport {
            try TokenStore.copy(
                from: source.file.location,
                to: target,
                reading: source.file.options,
                writing: options,
                keepsSource: keepsSource,
                progress: progress
            )
        }

        func plan(keepsSource: Bool) throws -> CopyReport {
            try TokenStore.planCopy(
                from: source.file.location,
                to: target,
                reading: source.file.options,
                writing: options,
                keepsSource: keepsSource
            )
        }

        func open() throws -> TokenStore { try TokenStore.open(at: target, options: options) }

        func account(_ number: Int) throws -> Account.ID {
            let accounts = try source.file.store.accounts().map(\.id)
            return try #require(accounts.first { $0.homeAccountID == "u\(number).t1" })
        }
    }

    @Test(arguments: StoreEngine.allCases, [false, true])
    func `a copy that is done writes nothing more`(engine: StoreEngine, keepsSource: Bool) throws {
        let scene = try Scene(to: engine)
        let plan = try scene.plan(keepsSource: keepsSource)
        #expect(!plan.wasDone && plan.accounts == 3)
        let first = try scene.copy(keepsSource: keepsSource)
        #expect(!first.wasDone)
        let store = try scene.open()
        let gone = try scene.account(1)
        try store.removeAccount(gone)
        try store.save(ServerScene.response("u9", token: "a9"), for: ServerScene.request())
        let (document, events) = (try store.exportedText(), try store.events(limit: 100))
        #expect(try scene.plan(keepsSource: keepsSource).wasDone)
        let again = try scene.copy(keepsSource: keepsSource)
        #expect(again.wasDone)
        #expect(!again.wasResumed)
        #expect(again.accounts == 3)
        #expect(try scene.open().exportedText() == document)
        #expect(try scene.open().events(limit: 100) == events)
        #expect(!document.contains("\"r-a1\""))
    }

    @Test(arguments: StoreEngine.allCases)
    func `an imported store that was moved stays moved after a sign-out`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine, accounts: 0)
        let other = try TestStore()
        try other.signIn(.signIn())
        // An import leaves the store without the key that a sign-out makes.
        try scene.source.file.take(other.export())
        try scene.copy()
        let account = try #require(try scene.open().accounts().first).id
        try scene.open().removeAccount(account)
        #expect(try scene.copy().wasDone)
        #expect(try scene.open().accounts().isEmpty)
    }

    @Test(arguments: StoreEngine.allCases)
    func `a move that goes on leaves alone what programs did at the target`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine, accounts: 140)
        try scene.source.file.store.setDefaultAccount(scene.account(139))
        #expect(throws: CutOff.self) {
            try scene.copy { if $0.unit == "accounts", $0.done >= 64 { throw CutOff() } }
        }
        let store = try scene.open()
        #expect(try store.accountCount(matching: .all) == 64)
        // One that was there is signed out, and one that was not; one signs in anew, and one does both.
        try store.removeAccount(scene.account(0))
        try store.removeAccount(scene.account(137), client: "cid")
        for number in [138, 139] {
            try store.save(ServerScene.response("u\(number)", token: "new\(number)"), for: ServerScene.request())
        }
        try store.removeAccount(scene.account(138))
        try store.setDefaultAccount(scene.account(1))
        let report = try scene.copy()
        #expect(report.wasResumed)
        #expect(report.accounts == 137)
        #expect(report.leftAlone == 3)
        let target = try scene.open()
        let names = Set(try target.accounts().map(\.id.homeAccountID))
        #expect(names.isDisjoint(with: ["u0.t1", "u137.t1", "u138.t1"]))
        let document = try target.exportedText()
        #expect(document.contains("\"r-new139\""))
        #expect(document.contains("\"r-a136\""))
        for token in ["r-a0", "r-a137", "r-a138", "r-a139", "r-new138"] {
            #expect(!document.contains("\"\(token)\""), "\(token)")
        }
        #expect(try target.defaultAccount()?.id == scene.account(1))
        #expect(try target.check() == [])
        #expect(try scene.copy().wasDone)
    }

    @Test(arguments: StoreEngine.allCases)
    func `a move with a long record of use goes on after its last commit`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        try scene.source.file.store.write { session in
            for _ in 0..<2_100 { try session.record(.purge) }
        }
        var hasAccounts = false
        #expect(throws: CutOff.self) {
            try scene.copy { progress in
                hasAccounts = hasAccounts || progress.unit == "accounts"
                // All is there, and is opened.
                if hasAccounts, progress.unit != "accounts" { throw CutOff() }
            }
        }
        let report = try scene.copy()
        #expect(report.wasResumed)
        #expect(!report.wasDone)
        #expect(report.accounts == 3)
        #expect(try scene.copy().wasDone)
        // Nor do later entries push the end of the move out of the record.
        try scene.open().write { session in
            for _ in 0..<2_100 { try session.record(.purge) }
        }
        #expect(try scene.copy().wasDone)
        let events = try scene.open().events(limit: 10_000)
        #expect(events.count { $0.kind == .move && $0.outcome.hasSuffix(" done") } == 1)
        #expect(!events.contains { $0.kind == .move && $0.outcome.hasSuffix(" begun") })
    }

    @Test func `a server's janitor leaves the marks of moves`() throws {
        let scene = try Scene(to: .server)
        #expect(throws: CutOff.self) {
            try scene.copy { if $0.unit == "accounts", $0.done >= 3 { throw CutOff() } }
        }
        var options = scene.options
        let now = options.now
        options.now = { now().addingTimeInterval(40 * 86_400) }
        let later = try TokenStore.open(at: scene.target, options: options)
        try later.tidy()
        #expect(try scene.copy().wasResumed)
        #expect(try later.tidy() > 0)
        #expect(try later.events(limit: 100).allSatisfy { $0.kind == .move })
        #expect(try scene.copy().wasDone)
    }

    @Test(arguments: StoreEngine.allCases)
    func `an emptied target takes a copy anew, and a copy's copy is its own`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        try scene.copy(keepsSource: true)
        // The copy of the copy has not come from the first store.
        let third = StoreLocation(StorePath(scene.source.file.directory.file("third/tokenstore.db")))
        let writing = scene.source.file.options
        try TokenStore.copy(from: scene.target, to: third, reading: scene.options, writing: writing, keepsSource: true)
        expectCode(.invalidArgument) {
            let source = scene.source.file
            try TokenStore.copy(
                from: source.location,
                to: third,
                reading: source.options,
                writing: writing,
                keepsSource: true
            )
        }
        #expect(try TokenStore.purgeAll(at: scene.target, options: scene.options).accounts == 3)
        let report = try scene.copy()
        #expect(!report.wasDone)
        #expect(report.accounts == 3)
    }

    @Test(arguments: StoreEngine.allCases)
    func `a move that was taken back is not taken for done`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        try scene.copy()
        try TokenStore.undoMove(at: scene.source.file.location, options: scene.source.file.options)
        let error = #expect(throws: TokenStoreError.self) { try scene.copy() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("lacks what was written there since") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice.contains("delete") == false)
        let account = try scene.account(0)
        try scene.source.file.another().setTags(["a": "b"], of: account)
    }

    @Test(arguments: StoreEngine.allCases)
    func `of a store that is being moved no account is deleted`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine, accounts: 80)
        #expect(throws: (any Error).self) {
            try scene.copy { if $0.unit == "accounts", $0.done > 0 { throw CutOff() } }
        }
        var options = scene.source.file.options
        options.unlocks = false
        let store = try TokenStore.open(at: scene.source.file.location, options: options)
        for policy in [AccountPolicy.username("u1"), .all] {
            let error = #expect(throws: TokenStoreError.self) { try store.purge(policy) }
            #expect(error?.code == .moved)
        }
        let status = try #require(try TokenStore.inspect(at: scene.source.file.location)?.status())
        #expect(status.accounts == 80)
        #expect(try scene.copy().accounts == 80)
    }

    @Test(arguments: StoreEngine.allCases)
    func `not even everything is deleted at the source before a move is finished`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        let (source, options) = (scene.source.file.location, scene.source.file.options)
        #expect(throws: CutOff.self) {
            try scene.copy { if $0.unit == "accounts", $0.done >= 1 { throw CutOff() } }
        }
        for dryRun in [true, false] {
            let error = #expect(throws: TokenStoreError.self) {
                try TokenStore.purgeAll(at: source, options: options, dryRun: dryRun)
            }
            #expect(error?.code == .moved)
            #expect(error?.remedy?.code == .finishMove)
        }
        #expect(try scene.copy().accounts == 3)
        #expect(try scene.open().check() == [])
        #expect(try TokenStore.inspect(at: source, options: options)?.check() == [])
        #expect(try TokenStore.purgeAll(at: source, options: options).accounts == 3)
    }

    @Test(arguments: StoreEngine.allCases)
    func `what was deleted at the target of a finished move does not come back unasked`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        let (source, options) = (scene.source.file.location, scene.source.file.options)
        try scene.copy()
        let left = try TokenStore.undoMove(at: source, options: options, dryRun: true)
        #expect(left.place == scene.target.description)
        #expect(left.accounts == 3)
        #expect(try TokenStore.purgeAll(at: scene.target, options: scene.options).accounts == 3)
        let error = #expect(throws: TokenStoreError.self) { try scene.copy() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.remedy?.code == .undoMove)
        #expect(try scene.open().accounts().isEmpty)
        try TokenStore.undoMove(at: source, options: options)
        #expect(try scene.copy().accounts == 3)
    }

    @Test(arguments: StoreEngine.allCases)
    func `a store comes back to where it was once that move is taken back`(engine: StoreEngine) throws {
        let scene = try Scene(to: engine)
        let (source, options) = (scene.source.file.location, scene.source.file.options)
        try scene.copy()
        func back() throws -> CopyReport {
            try TokenStore.copy(from: scene.target, to: source, reading: scene.options, writing: options)
        }
        let error = #expect(throws: TokenStoreError.self) { try back() }
        #expect(error?.code == .moved)
        #expect(error?.remedy?.code == .undoMove)
        try TokenStore.undoMove(at: source, options: options)
        #expect(try TokenStore.purgeAll(at: source, options: options).accounts == 3)
        #expect(try back().accounts == 3)
        // Deleted at a server's old place, it is known on that all was moved.
        #expect(try TokenStore.purgeAll(at: scene.target, options: scene.options).accounts == 3)
        #expect(try TokenStore.purgeAll(at: scene.target, options: scene.options).accounts == 0)
    }

    @Test func `who is told of the new place is not told the mover's role or where his password is`() throws {
        let scene = try Scene(to: .server)
        try scene.copy()
        let place = try #require(try TokenStore.inspect(at: scene.source.file.location)?.status().movedTo)
        #expect(place == scene.target.description && place != scene.target.fullDescription)
        #expect(!place.contains("@") && !place.contains("passfile"))
        // The mover can go on all the same.
        #expect(try scene.copy().wasDone)
    }
}
