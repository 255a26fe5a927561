import Foundation
import OAuth
import Sealing
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What a program keeps in memory of a file, while others write to it.
@Suite(.aboutFiles("a server tells of commits by messages, which ServerWatchTests are about"))
struct MemoryTests {
    private struct Scene: Sendable {
        let fixture: TestStore
        let store: TokenStore
        let other: TokenStore

        init(_ subjects: String...) throws {
            fixture = try TestStore()
            (store, other) = (fixture.store, try fixture.another())
            for subject in subjects { try signIn(subject, "first") }
        }

        func signIn(_ subject: String, _ token: String) throws {
            try other.save(ServerScene.response(subject, token: token), for: ServerScene.request())
        }

        func account(_ subject: String) -> Account.ID { query(subject).account }

        func query(_ subject: String) -> TokenQuery {
            let account = Fixture.account.named("\(subject).t1")
            return TokenQuery(account: account, clientID: "cid", scope: "s1")
        }

        /// What a lookup finds; nil where the account has nothing.
        func served(_ subject: String) throws -> String? {
            guard case .usable(let token, isAging: false) = try store.cachedToken(for: query(subject)) else {
                return nil
            }
            return token.secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }

        /// Whether a lookup takes it from memory, once it has looked at what was committed.
        func isInMemory(_ subject: String) throws -> Bool {
            _ = try store.connections.memoryVersion()
            return store.tokenInMemory(for: query(subject)) != nil
        }
    }

    /// What another program does with an account, and what a lookup of it finds then.
    enum Deed: String, CaseIterable {
        case signIn, signOut, removal, purgeOfOne, purgeOfExpired, purgeOfAll, importing

        func run(_ store: TokenStore, _ scene: (account: Account.ID, fixture: TestStore)) throws {
            switch self {
            case .signIn: try store.save(ServerScene.response("u1", token: "next"), for: ServerScene.request())
            case .signOut: try store.removeAccount(scene.account, client: "cid")
            case .removal: try store.removeAccount(scene.account)
            case .purgeOfOne: _ = try store.purge(.homeAccountID(scene.account.homeAccountID))
            case .purgeOfExpired:
                scene.fixture.clock.seconds += 100_000
                _ = try store.purgeExpired()
            case .purgeOfAll: _ = try TokenStore.purgeAll(at: store.location, options: scene.fixture.options)
            case .importing:
                let entity: JSONValue = [
                    "credential_type": "AccessToken", "home_account_id": "u1.t1", "client_id": "cid",
                    "environment": "login.microsoftonline.com", "realm": "t1", "target": "s1", "secret": "next",
                    "cached_at": .string("\(Int64(scene.fixture.clock.seconds) + 10)"),
                    "expires_on": .string("\(Int64(scene.fixture.clock.seconds) + 5_000)"),
                ]
                try store.take((["AccessToken": ["key": entity]] as JSONValue).serialized)
            }
        }

        var expected: String? {
            switch self {
            case .signIn, .importing: "next"
            default: nil
            }
        }
    }

    @Test(arguments: Deed.allCases)
    func `what another program does with an account is seen by the next lookup`(deed: Deed) throws {
        let scene = try Scene("u1", "u2")
        #expect(try scene.served("u1") == "first")
        #expect(try scene.isInMemory("u1"))
        try deed.run(scene.other, (scene.account("u1"), scene.fixture))
        #expect(scene.store.tokenInMemory(for: scene.query("u1")) == nil)
        #expect(try scene.served("u1") == deed.expected)
    }

    @Test func `what concerns another account leaves a token in memory`() throws {
        let scene = try Scene("u1", "u2", "u3")
        for subject in ["u1", "u2", "u3"] { #expect(try scene.served(subject) == "first") }
        try scene.signIn("u2", "second")
        try scene.other.removeAccount(scene.account("u3"))
        #expect(try scene.isInMemory("u1"))
        #expect(try !scene.isInMemory("u2"))
        #expect(try !scene.isInMemory("u3"))
        #expect(try scene.served("u2") == "second")
        #expect(try scene.served("u3") == nil)
    }

    @Test func `what the program itself does leaves the tokens of others in memory`() throws {
        let scene = try Scene("u1", "u2")
        for subject in ["u1", "u2"] { #expect(try scene.served(subject) == "first") }
        try scene.store.removeAccount(scene.account("u2"))
        #expect(try scene.isInMemory("u1"))
        #expect(try scene.served("u2") == nil)
    }

    @Test func `a commit of the program itself that the record of use says nothing of leaves tokens in memory`() throws
    {
        let scene = try Scene("u1")
        #expect(try scene.served("u1") == "first")
        try scene.store.setDefaultAccount(scene.account("u1"))
        #expect(scene.store.tokenInMemory(for: scene.query("u1")) == nil)
        #expect(try scene.isInMemory("u1"))
    }

    @Test func `a commit of another that the record of use says nothing of empties memory`() throws {
        let scene = try Scene("u1", "u2")
        #expect(try scene.served("u1") == "first")
        try Shell.run("/usr/bin/sqlite3", scene.fixture.path.database, "DELETE FROM access_token")
        #expect(try scene.served("u1") == nil)
        try scene.signIn("u1", "second")
        #expect(try scene.served("u1") == "second")
        // Also where it comes with one that is entered.
        try scene.signIn("u2", "second")
        try Shell.run("/usr/bin/sqlite3", scene.fixture.path.database, "DELETE FROM access_token")
        #expect(try scene.served("u1") == nil)
    }

    @Test func `a commit that failed hides none of another`() throws {
        let scene = try Scene("u1", "u2")
        #expect(try scene.served("u1") == "first")
        for _ in 0..<3 {
            #expect(throws: CancellationError.self) {
                try scene.store.write { session in
                    try session.record(.import)
                    throw CancellationError()
                }
            }
        }
        #expect(try scene.isInMemory("u1"))
        try Shell.run("/usr/bin/sqlite3", scene.fixture.path.database, "DELETE FROM access_token")
        #expect(try scene.served("u1") == nil)
    }

    /// Something about the record of use that leaves open what happened.
    enum Gap: String, CaseIterable {
        case missingEntry, missingEnd, unmarkedEntry, tooMany, trimmed

        func make(_ database: String) throws {
            let entry = "INSERT INTO event SELECT max(id) + %, at, program, process_id, kind, outcome, account_id,"
            let statement =
                switch self {
                case .missingEntry:
                    entry.replacing("%", with: "2") + " account_mark, client_id, fingerprint, mac FROM event"
                case .missingEnd: "DELETE FROM event WHERE id = (SELECT max(id) FROM event)"
                case .unmarkedEntry: entry.replacing("%", with: "1") + " NULL, client_id, fingerprint, mac FROM event"
                case .tooMany:
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                    INSERT INTO event SELECT (SELECT max(id) FROM event) + i, at, program, process_id, kind, outcome,
                        account_id, account_mark, client_id, fingerprint, mac
                    FROM n, (SELECT * FROM event ORDER BY id DESC LIMIT 1)
                    """
                case .trimmed: "UPDATE event SET id = id + 5000"
                }
            try Shell.run("/usr/bin/sqlite3", database, statement)
        }
    }

    @Test(arguments: Gap.allCases)
    func `a record of use that does not tell what happened empties memory`(gap: Gap) throws {
        let scene = try Scene("u1", "u2")
        #expect(try scene.served("u1") == "first")
        #expect(try scene.isInMemory("u1"))
        try gap.make(scene.fixture.path.database)
        #expect(try !scene.isInMemory("u1"))
        #expect(try scene.served("u1") == "first")
        // From then on it is followed as before.
        try scene.signIn("u2", "second")
        #expect(try scene.isInMemory("u1"))
        try scene.signIn("u1", "second")
        #expect(try scene.served("u1") == "second")
    }

    @Test func `a store that was closed is looked at anew`() throws {
        let scene = try Scene("u1")
        #expect(try scene.served("u1") == "first")
        #expect(scene.store.connections.close())
        #expect(scene.store.tokenInMemory(for: scene.query("u1")) == nil)
        try scene.signIn("u1", "second")
        #expect(try scene.served("u1") == "second")
    }

    /// What was stored last for each account, and how many still store.
    private final class Log: Sendable {
        let stored = LockedValue<[String: Int]>([:])
        let writers = LockedValue(2)
    }

    @Test(.onWaitingThreads)
    func `a lookup never finds less than was stored before it began`() async throws {
        let subjects = (0..<8).map { "u\($0)" }
        let scene = try Scene()
        let log = Log()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    defer { log.writers.withLock { $0 -= 1 } }
                    for round in 0..<150 {
                        let subject = subjects[(2 * round + writer) % subjects.count]
                        try scene.signIn(subject, "\(round)")
                        log.stored.withLock { $0[subject] = round }
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    while log.writers.withLock(\.self) > 0 {
                        for subject in subjects {
                            guard let least = log.stored.withLock({ $0[subject] }) else { continue }
                            let found = try scene.served(subject).flatMap { Int($0) }
                            #expect(found ?? -1 >= least, "\(subject)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
