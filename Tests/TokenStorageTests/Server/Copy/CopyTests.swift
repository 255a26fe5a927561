import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A store that goes to another place: with everything, once, and with no way to use it twice.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct CopyTests {
    /// A file with accounts of several kinds, and a place on the server for it.
    struct Scene {
        let file: TestStore
        let server: ServerScene

        init(accounts: Int = 3) throws {
            file = try TestStore()
            server = try ServerScene()
            try server.create()
            for number in 0..<accounts {
                try file.store.save(
                    ServerScene.response("u\(number)", token: "a\(number)"),
                    for: ServerScene.request()
                )
            }
        }

        @discardableResult
        func move(keepsSource: Bool = false, progress: TokenStore.ProgressHandler? = nil) throws -> CopyReport {
            try TokenStore.copy(
                from: file.location,
                to: server.location,
                reading: file.options,
                writing: server.options,
                keepsSource: keepsSource,
                progress: progress
            )
        }

        /// Moves the store from the server to another file.
        @discardableResult
        func moveBack(to folder: String) throws -> StoreLocation {
            let place = StoreLocation(StorePath(file.directory.file(folder + "/tokenstore.db")))
            try TokenStore.copy(from: server.location, to: place, reading: server.options, writing: file.options)
            return place
        }
    }

    @Test func `a plan says that its source holds part of a copy, until that is whole or gone`() throws {
        struct CutOff: Error {}
        let scene = try Scene(accounts: 70)
        let (place, options) = (try scene.server.location, scene.server.options)
        func plan() throws -> CopyReport { try TokenStore.planCopy(from: place, reading: options) }
        #expect(try plan().isPartial == false)
        #expect(throws: CutOff.self) {
            try scene.move { if $0.unit == "accounts", $0.done >= 64 { throw CutOff() } }
        }
        #expect(try plan().isPartial)
        #expect(try scene.move().accounts == 70)
        #expect(try plan().isPartial == false)
    }

    @Test func `of a copy that was cut off nothing is left once another one has filled the store`() throws {
        let scene = try Scene(accounts: 2)
        let other = String(repeating: "a", count: 32)
        try scene.server.open().write { _ = try $0.beginCopy(from: other) }
        #expect(try scene.move().accounts == 2)
        #expect(try scene.server.count("SELECT count(*) FROM event WHERE outcome LIKE 'from %'") == 1)
        #expect(try scene.server.count("SELECT count(*) FROM event WHERE outcome LIKE '%\(other)%'") == 0)
    }

    @Test func `a store goes to a server and back with everything it holds`() throws {
        let scene = try Scene(accounts: 70)
        let store = scene.file.store
        try scene.file.take(["AccessToken": ["x": ["odd": 1]], "Strange": ["y": ["z": 2]]])
        let first = try #require(try store.accounts().first).id
        try store.setTags(["room": "ärger \"7\""], of: first)
        try store.setDefaultAccount(first)
        try store.removeAccount(try #require(try store.accounts().last).id)
        let (document, events) = (try store.exportedText(), try store.events(limit: 1_000))
        let report = try scene.move()
        #expect(report.accounts == 69)
        #expect(!report.wasResumed)
        let there = try scene.server.open()
        #expect(try there.exported() == store.exported())
        #expect(try there.check() == [])
        let unowned = "SELECT count(*) FROM event WHERE account_id = 0 AND account_mark IS NOT NULL"
        #expect(try scene.server.count(unowned) == 0)
        #expect(try there.tags(of: first) == ["room": "ärger \"7\""])
        #expect(try there.defaultAccount()?.id == first)
        #expect(try there.accounts(matching: .tag("room", equals: "ärger \"7\"")).map(\.id) == [first])
        // The newest two are of the move itself.
        #expect(try there.events(limit: 1_000).dropFirst(2).map(\.kind).starts(with: events.map(\.kind)))

        let back = try scene.moveBack(to: "back")
        let returned = try TokenStore.open(at: back, options: scene.file.options)
        #expect(try returned.exportedText().count == document.count)
        #expect(try returned.exported() == JSONValue(parsing: document))
        #expect(try returned.check() == [])
        #expect(try returned.defaultAccount()?.id == first)
        expectCode(.moved) { try there.setDefaultAccount(nil) }
    }

    @Test func `nothing is written where a store was moved from, by whoever has it open`() throws {
        let scene = try Scene()
        let account = try #require(try scene.file.store.accounts().first).id
        let open = try scene.file.another()
        _ = try open.accounts()
        try scene.move()
        let place = try scene.server.location.description
        for store in [scene.file.store, open] {
            let error = #expect(throws: TokenStoreError.self) { try store.setTags(["a": "b"], of: account) }
            #expect(error?.code == .moved)
            #expect(error?.problem.contains(place) == true, "\(error?.problem ?? "")")
            #expect(try store.accounts().count == 3)
        }
        expectCode(.moved) { _ = try scene.file.another() }
        #expect(try TokenStore.inspect(at: scene.file.path, options: scene.file.options)?.status().movedTo == place)
        #expect(try TokenStore.inspect(at: scene.file.path, options: scene.file.options)?.check() == [])
        // Who signs in meanwhile is told that it counts for the old place alone.
        let late = #expect(throws: TokenStoreError.self) { try scene.file.signIn(.signIn()) }
        #expect(late?.code == .notStored)
        #expect(late?.problem.contains(place) == true, "\(late?.problem ?? "")")
        #expect(late?.remedy?.code == .signIn)
        // What is left of it can be deleted.
        let answers = try scene.file.path.pendingAnswers()
        #expect(answers.count == 1)
        let purged = try TokenStore.purgeAll(at: scene.file.path, options: scene.file.options)
        #expect(purged.accounts == 3)
        #expect(purged.removedFiles == answers)
    }

    @Test func `a move that was cut off goes on, and can be taken back`() throws {
        struct CutOff: Error {}
        let scene = try Scene(accounts: 140)
        #expect(throws: CutOff.self) {
            try scene.move { if $0.unit == "accounts", $0.done >= 64 { throw CutOff() } }
        }
        #expect(try scene.server.open().accountCount(matching: .all) == 64)
        let account = try #require(try scene.file.store.accounts().first).id
        expectCode(.moved) { try scene.file.store.setTags(["a": "b"], of: account) }
        // Another place is refused while this one is half filled.
        expectCode(.moved) {
            try TokenStore.copy(
                from: scene.file.location,
                to: StoreLocation(StorePath(scene.file.directory.file("other/tokenstore.db"))),
                reading: scene.file.options,
                writing: scene.file.options
            )
        }
        #expect(!FileManager.default.fileExists(atPath: scene.file.directory.file("other")))
        let report = try scene.move()
        #expect(report.wasResumed)
        #expect(report.accounts == 140)
        #expect(!report.wasDone)
        #expect(try scene.move().wasDone)
        #expect(try scene.server.open().check() == [])
        try TokenStore.undoMove(at: scene.file.location, options: scene.file.options)
        try scene.file.another().setTags(["a": "b"], of: account)
    }

    @Test(arguments: StoreEngine.allCases)
    func `a move that is taken back while it runs is not finished`(engine: StoreEngine) throws {
        let scene = try Scene(accounts: 80)
        let isServer = engine == .server
        if isServer { try scene.move() }
        let source = isServer ? try scene.server.location : scene.file.location
        let (reading, writing) = (isServer ? scene.server.options : scene.file.options, scene.file.options)
        let target = StoreLocation(StorePath(scene.file.directory.file("other/tokenstore.db")))
        var isTakenBack = false
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.copy(from: source, to: target, reading: reading, writing: writing) { progress in
                guard progress.unit == "accounts", progress.done > 0, !isTakenBack else { return }
                isTakenBack = true
                try TokenStore.undoMove(at: source, options: reading)
            }
        }
        #expect(isTakenBack)
        #expect(error?.code == .invalidArgument)
        #expect(error?.problem.contains("was taken back meanwhile") == true, "\(error?.problem ?? "")")
        let store = try TokenStore.open(at: source, options: reading)
        try store.setDefaultAccount(try #require(try store.accounts().first).id)
        let again = #expect(throws: TokenStoreError.self) {
            try TokenStore.copy(from: source, to: target, reading: reading, writing: writing)
        }
        #expect(again?.problem.contains("holds part of a copy") == true, "\(again?.problem ?? "")")
        #expect(try TokenStore.undoMove(at: source, options: reading).place == nil)
    }

    @Test func `a copy leaves the source alone and is not mixed with another`() throws {
        let scene = try Scene()
        let account = try #require(try scene.file.store.accounts().first).id
        try scene.move(keepsSource: true)
        try scene.file.store.setTags(["a": "b"], of: account)
        #expect(try scene.file.store.status().movedTo == nil)
        #expect(try scene.move(keepsSource: true).wasDone)
        // The source went on.
        expectCode(.invalidArgument) { try scene.move() }
        try scene.file.store.setTags(["c": "d"], of: account)
        #expect(try scene.server.open().tags(of: account) == [:])
        expectCode(.invalidArgument) {
            try TokenStore.copy(from: scene.file.location, to: scene.file.location, reading: scene.file.options)
        }
    }

    @Test func `a target that cannot be used freezes nothing`() throws {
        let scene = try Scene()
        let account = try #require(try scene.file.store.accounts().first).id
        let absent = try ServerScene()
        expectCode(.noStore) {
            try TokenStore.copy(
                from: scene.file.location,
                to: absent.location,
                reading: scene.file.options,
                writing: absent.options
            )
        }
        // A store that was moved itself takes nothing.
        let other = try scene.moveBack(to: "other")
        expectCode(.moved) { try scene.move() }
        try scene.file.store.setTags(["a": "b"], of: account)
        expectCode(.noStore) {
            try TokenStore.copy(from: absent.location, to: other, reading: absent.options, writing: scene.file.options)
        }
    }

    @Test func `a role that may not fill the target is told before the source is frozen`() throws {
        let scene = try Scene()
        try TokenStore.create(
            at: scene.server.location,
            options: scene.server.options,
            granting: ServerRoles(application: "trusted")
        )
        let target = try scene.server.location(as: "trusted")
        // The key of marks stays of an account that was there.
        let store = try TokenStore.open(at: target, options: scene.server.options)
        try store.save(ServerScene.response("u9", token: "a"), for: ServerScene.request())
        #expect(try store.purge(.all).accounts == 1)
        store.close()
        expectCode(.access) {
            try TokenStore.copy(
                from: scene.file.location,
                to: target,
                reading: scene.file.options,
                writing: scene.server.options
            )
        }
        let account = try #require(try scene.file.store.accounts().first).id
        try scene.file.store.setTags(["a": "b"], of: account)
        try scene.move()
        #expect(try scene.server.open().accounts().count == 3)
    }

    @Test func `a refresh whose answer is yet to come keeps a store where it is`() throws {
        let scene = try Scene()
        let account = try #require(try scene.file.store.accounts().first).id
        let token = try #require(try scene.file.store.refreshTokens(of: account, client: "cid").first)
        _ = try scene.file.store.beginRefresh(with: token)
        var options = scene.file.options
        options.busyTimeout = .milliseconds(50)
        expectCode(.busy) {
            try TokenStore.copy(
                from: scene.file.location,
                to: scene.server.location,
                reading: options,
                writing: scene.server.options
            )
        }
        try scene.file.store.setTags(["a": "b"], of: account)
        scene.file.clock.seconds += 61
        try scene.move()
    }

    @Test func `a store is not moved onto itself by another name`() throws {
        let scene = try CopyTests.Scene(accounts: 3)
        let (location, options) = (try scene.server.location, scene.server.options)
        // The same directory of the server's socket.
        let other = try StoreLocation(location.fullDescription.replacing("%2Ftokenstore", with: "%2F.%2Ftokenstore"))
        #expect(other != location)
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.copy(from: location, to: other, reading: options, writing: options)
        }
        #expect(error?.code == .invalidArgument, "\(String(describing: error))")
        #expect(error?.problem.hasSuffix("are the same store, by two names") == true)
        try TokenStore.open(at: location, options: options)
            .save(ServerScene.response("u9", token: "a9"), for: ServerScene.request())
    }

    @Test func `a move that the target refuses says that the source waits`() throws {
        let source = try TestStore()
        try source.store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let target = try ServerScene()
        try target.create()
        try target.sql("ALTER TABLE access_token ADD CONSTRAINT none CHECK (expires_on < 0)")
        func move() throws -> CopyReport {
            try TokenStore.copy(
                from: source.location,
                to: target.location,
                reading: source.options,
                writing: target.options
            )
        }
        let error = #expect(throws: TokenStoreError.self) { _ = try move() }
        #expect(error?.remedy?.code == .resumeMove, "\(String(describing: error))")
        let problem = error?.problem ?? ""
        #expect(problem.contains("is not finished") && !problem.contains("nothing was changed"), "\(problem)")
        try target.sql("ALTER TABLE access_token DROP CONSTRAINT none")
        #expect(try move().accounts == 1)
    }
}
