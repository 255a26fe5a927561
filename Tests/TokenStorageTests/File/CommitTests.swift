import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Promises 1 and 2: a response is stored whole or not at all, and what was stored stays.
@Suite(.aboutFiles("locks and logs are a file's"))
struct CommitTests {
    /// Makes the writing connection fail in the middle of a save.
    enum Obstacle: CaseIterable {
        case fullDisk, failingStatement, busy

        func raise(in store: TokenStore) throws {
            try store.withWriter { session in
                switch self {
                case .fullDisk:
                    let pages = try session.connection.integer("PRAGMA page_count") ?? 0
                    try session.connection.execute("PRAGMA max_page_count = \(pages)")
                case .failingStatement:
                    try session.connection.execute(
                        "CREATE TEMP TRIGGER obstacle BEFORE INSERT ON access_token BEGIN SELECT RAISE(ABORT, 'no'); END"
                    )
                case .busy: session.connection.busyTimeout = .zero
                }
            }
        }
    }

    /// A response that needs more pages than a nearly empty store has left.
    private func largeResponse() throws -> TokenResponse {
        try .signIn(["refresh_token": .string(String(repeating: "r", count: 100_000)), "access_token": "new"])
    }

    @Test(arguments: Obstacle.allCases)
    func `C57: a response that cannot be committed is stored by the next process`(obstacle: Obstacle)
        throws
    {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let before = try fixture.store.exportedText()
        let events = try fixture.store.events()
        try obstacle.raise(in: fixture.store)
        let response = try largeResponse()
        let other = try fixture.another()
        let saved = try other.whileWriting(obstacle == .busy) { try fixture.refresh(response) }
        guard case .pending(let reason) = saved.outcome else {
            Issue.record("\(saved.outcome)")
            return
        }
        #expect(saved.accessToken?.secret.reveal() == "new")
        #expect(!reason.contains("rrrr"))
        #expect(try fixture.store.exportedText() == before)
        #expect(try fixture.store.events() == events)
        let next = try fixture.another()
        #expect(try next.refreshTokens(of: Fixture.account, client: "cid").map(\.secret) == [response.refreshToken])
        #expect(try next.check() == [])
    }

    /// The directory has lost its name, so that no file can be made in it.
    @Test(arguments: [Obstacle.fullDisk, .failingStatement])
    func `C57: a response that cannot be kept anywhere is returned in the error`(obstacle: Obstacle) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let used = try fixture.currentRefreshToken()
        let before = try fixture.store.exportedText()
        let events = try fixture.store.events()
        try obstacle.raise(in: fixture.store)
        let response = try largeResponse()
        let (name, hidden) = (fixture.directory.path, fixture.directory.path + "-hidden")
        for isRefresh in [true, false] {
            try FileManager.default.moveItem(atPath: name, toPath: hidden)
            let error = #expect(throws: TokenStoreError.self) {
                if isRefresh {
                    try fixture.refresh(response, with: used)
                } else {
                    try fixture.signIn(response)
                }
            }
            try FileManager.default.moveItem(atPath: hidden, toPath: name)
            #expect(error?.code == .notStored)
            #expect(error?.response == response)
            #expect(error?.description.contains("rrrr") == false)
        }
        #expect(try fixture.store.exportedText() == before)
        #expect(try fixture.store.events() == events)
        #expect(try fixture.another().check() == [])
    }

    @Test func `a response of another account is not stored, and the refresh token stays`() throws {
        let fixture = try TestStore(.standardCache())
        let before = try fixture.store.exportedText()
        let response = try TokenResponse.signIn(["client_info": .string(Fixture.clientInfo("u2", "t1"))])
        let error = #expect(throws: TokenStoreError.self) { try fixture.refresh(response) }
        #expect(error?.code == .otherAccount)
        #expect(error?.response == response)
        #expect(try fixture.store.exportedText() == before)
    }

    @Test func `C58: a crash at any point of a commit leaves the whole response or nothing`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try fixture.store.removing { _ in }
        let before = try fixture.store.exportedText()
        let database = try DamagedFile(fixture.path.database).bytes()
        #expect(try DamagedFile(fixture.path.database + "-wal").bytes().isEmpty)
        try fixture.signIn(.signIn(["access_token": "new", "refresh_token": "r2"]))
        let after = try fixture.store.exportedText()
        let log = try DamagedFile(fixture.path.database + "-wal").bytes()
        #expect(try DamagedFile(fixture.path.database).bytes() == database)

        let frame = 24 + 4096
        let ends = Set(stride(from: 32, through: log.count, by: frame)).union(
            stride(from: 0, to: log.count, by: 1499)
        )
        for end in ends.sorted() + [log.count - 1, log.count] {
            let copy = try TemporaryDirectory()
            try Data(database).write(to: URL(filePath: copy.file("tokenstore.db")))
            try Data(log[..<end]).write(to: URL(filePath: copy.file("tokenstore.db-wal")))
            try FileManager.default.copyItem(atPath: fixture.directory.file("key"), toPath: copy.file("key"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.file("tokenstore.db"))
            let store = try TokenStore.open(at: StorePath(copy.path), options: fixture.options)
            #expect(try store.exportedText() == (end == log.count ? after : before), "cut at \(end) of \(log.count)")
            #expect(try store.check() == [])
        }
    }

    @Test func `every connection synchronizes each commit and overwrites what it deletes`() throws {
        let fixture = try TestStore()
        let settings = try fixture.store.withWriter { session in
            try [
                session.connection.integer("PRAGMA synchronous"), session.connection.integer("PRAGMA foreign_keys"),
                session.connection.integer("PRAGMA secure_delete"), session.connection.integer("PRAGMA trusted_schema"),
            ]
        }
        #expect(settings == [2, 1, 1, 0])
        let mode = try fixture.store.read { try $0.connection.first("PRAGMA journal_mode") { $0.text(0) } }
        #expect(mode == "wal")
    }
}

extension TokenStore {
    /// Runs `body` while this store holds the write lock, if asked to.
    fileprivate func whileWriting<Result: Sendable>(_ isWriting: Bool, _ body: () throws -> Result) throws -> Result {
        try isWriting ? write { _ in try body() } : body()
    }
}
