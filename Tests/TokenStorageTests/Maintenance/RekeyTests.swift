import Database
import Foundation
import OAuth
import Sealing
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onBothEngines, .onWaitingThreads)
struct RekeyTests {
    struct Interruption: Error {}

    /// More rows than one transaction of a rekey takes.
    private static let crowd = JSONValue.cache(
        refreshTokens: (0..<300).map { .refreshToken("r\($0)", ["home_account_id": .string("u\($0).t1")]) },
        idTokens: (0..<300).map {
            .idToken(
                Fixture.claims(["sub": .string("s\($0)"), "department": $0 == 7 ? "finance" : "sales"]),
                ["home_account_id": .string("u\($0).t1")]
            )
        }
    ).with(["Private": ["k": "v"]])

    /// Everything that a key is needed for.
    private func expectEverythingReadable(
        _ store: TokenStore,
        _ export: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        // The query is first: reading a value would already load the new key.
        let found = try store.accounts(matching: .claim("department", equals: "Finance"))
        #expect(found.map(\.id.homeAccountID) == ["u7.t1"], sourceLocation: sourceLocation)
        #expect(try store.exportedText() == export, sourceLocation: sourceLocation)
        #expect(try store.accounts(matching: .claim("department", contains: "fin")).count == 1)
        #expect(try store.check() == [], sourceLocation: sourceLocation)
    }

    @Test func `after a rekey open stores read every value and find claims`() throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let other = try fixture.another()
        try expectEverythingReadable(other, export)
        let report = try fixture.store.rekey { _ in
            // Another process sees some rows under the old key and some under the new one.
            do {
                try expectEverythingReadable(other, export)
            } catch {
                Issue.record(error)
            }
        }
        #expect(report.resealed >= 601)
        #expect(!report.resumed)
        try expectEverythingReadable(other, export)
        try expectEverythingReadable(fixture.store, export)
        try expectEverythingReadable(fixture.another(), export)
        #expect(try !fixture.store.status().isRekeyUnfinished)
    }

    @Test(.aboutFiles("the new key is beside the file"), arguments: ["first", "wrong"])
    func `a store opened while its keys move uses the new source`(answer: String) throws {
        let fixture = try TestStore {
            $0.keySource = .passphrase
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
            $0.askPassphrase = { _ in Secret("first") }
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        let asked = Mutex(0)
        var options = fixture.options
        options.keySource = nil
        options.askPassphrase = { _ in
            asked.withLock { $0 += 1 }
            _ = try fixture.store.rekey(to: .file)
            return Secret(answer)
        }
        let store = try TokenStore.open(at: fixture.path, options: options)
        #expect(try store.rows("AccessToken").map { $0["secret"] } == ["a"])
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a new data key is wrapped under the current key source`() throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let other = try fixture.another()
        _ = try fixture.store.rekey(to: .file(fixture.directory.file("other-key")))
        _ = try other.rekey()
        try expectEverythingReadable(fixture.another(), export)
    }

    @Test(.aboutFiles("the file is copied in the middle"), arguments: [1, 2, 3])
    func `an interrupted rekey is finished by the next one`(steps: Int) throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let directory = try cutOffRekey(fixture, after: steps)
        let store = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        let next = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        #expect(try store.status().isRekeyUnfinished)
        try expectEverythingReadable(store, export)
        try store.take(JSONValue.newcomer.serialized)
        #expect(try next.rekey().resumed)
        #expect(try !store.status().isRekeyUnfinished)
        #expect(try store.accounts().count == 301)
        #expect(try store.accounts(matching: .claim("department", equals: "finance")).count == 1)
        #expect(try store.check() == [])
    }

    @Test(.aboutFiles("the file is copied in the middle"), arguments: [1, 2, 3])
    func `an import during a rekey finds rows under the old key`(steps: Int) throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let directory = try cutOffRekey(fixture, after: steps)
        let store = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        #expect(try store.take(export).changes == 0)
        let other: JSONValue = ["AppMetadata": [:], "Private": ["k": "w"]]
        try store.take(other.serialized)
        #expect(try store.rekey().resumed)
        #expect(try store.exported()["Private"] == ["k": "w"])
        #expect(try store.check() == [])
    }

    /// What a process leaves that is killed between two transactions of a rekey.
    private func cutOffRekey(_ fixture: TestStore, after steps: Int) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        var progressed = 0
        var copied = 0
        _ = try fixture.store.rekey { _ in
            progressed += 1
            guard progressed == steps else { return }
            for name in ["tokenstore.db", "tokenstore.db-wal", "key"] {
                let copy: Void? = try? FileManager.default.copyItem(
                    atPath: fixture.directory.file(name),
                    toPath: directory.file(name)
                )
                copied += copy == nil ? 0 : 1
            }
        }
        try #require(copied == 3)
        return directory
    }

    @Test(.aboutFiles("the statement that fails is one of a connection to a file"))
    func `a key that a rekey could not commit is not taken for the one that another rekey makes`() throws {
        let fixture = try TestStore(Self.crowd)
        let obstacle = "CREATE TEMP TRIGGER obstacle BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no'); END"
        try fixture.store.withWriter { try $0.connection.execute(obstacle) }
        #expect(throws: (any Error).self) { _ = try fixture.store.rekey() }
        try fixture.store.withWriter { try $0.connection.execute("DROP TRIGGER obstacle") }
        #expect(try !fixture.another().rekey().resumed)
        try fixture.store.take(JSONValue.newcomer.serialized)
        #expect(try fixture.another().check() == [])
        #expect(try fixture.another().accounts().count == 301)
    }

    @Test func `the record of use names the same refresh token after a rekey`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let token = try fixture.currentRefreshToken()
        #expect(try fixture.store.events(of: token).map(\.kind) == [.signIn])
        _ = try fixture.store.rekey()
        #expect(try fixture.store.events(of: token).map(\.kind) == [.signIn])
        #expect(try fixture.store.removeRefreshToken(token))
        #expect(try fixture.store.events(of: token).map(\.kind) == [.refused, .signIn])
    }

    @Test func `a refresh token read before a rekey can be replaced and removed`() throws {
        let fixture = try TestStore(.standardCache())
        let token = try fixture.currentRefreshToken()
        _ = try fixture.another().rekey()
        try fixture.refresh(.new(["refresh_token": "r2"]), with: token)
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["r2"])
        #expect(try !fixture.store.removeRefreshToken(token))
        #expect(try fixture.rows("RefreshToken").count == 1)
    }

    @Test(.aboutFiles("the rows of a server are not in the order of the import"))
    func `a rotation in the middle of a rekey leaves no copy of the spent refresh token`() throws {
        let place: KeyValuePairs<String, JSONValue> = ["home_account_id": "u0.t1"]
        let copy = JSONValue.refreshToken("r0", ["family_id": "1"]).with(place)
        // The token and its copy are further apart than one transaction of a rekey reaches.
        let tokens = (0..<600).map { JSONValue.refreshToken("r\($0)", ["home_account_id": .string("u\($0).t1")]) }
        let fixture = try TestStore(JSONValue.cache(refreshTokens: tokens + [copy]))
        let account = Account.ID(issuer: Fixture.account.issuer, homeAccountID: "u0.t1")
        var isRotated = false
        _ = try fixture.store.rekey { _ in
            do {
                let other = try fixture.another()
                let count = try other.read { session in
                    try session.connection.integer(
                        """
                        SELECT count(DISTINCT substr(t.secret, 1, 5)) FROM refresh_token t
                        JOIN account a ON a.id = t.account_id WHERE a.home_account_id = 'u0.t1'
                        """
                    )
                }
                guard count == 2, !isRotated else { return }
                isRotated = true
                let used = try #require(try other.refreshTokens(of: account, client: "cid").first)
                var response = TokenResponse(accessToken: Secret("a"), expiresIn: .seconds(3_600))
                response.refreshToken = Secret("rotated")
                let authority = try Authority(parsing: "https://login.microsoftonline.com/t1")
                let request = TokenRequest(clientID: "cid", authority: authority, scope: "s1", grant: .refreshToken)
                try other.save(response, for: request, refreshing: used)
            } catch {
                Issue.record(error)
            }
        }
        #expect(isRotated)
        let left = try fixture.another().refreshTokens(of: account, client: "cid", family: "1")
        #expect(left.map(\.secret) == [Secret("rotated")])
    }

    @Test(.aboutFiles("on a server the second goes on with what the first has left"))
    func `two rekeys at once exclude each other`() throws {
        let fixture = try TestStore { $0.busyTimeout = .milliseconds(20) }
        try fixture.take(Self.crowd)
        let other = try fixture.another()
        var refusal: TokenStoreError?
        _ = try fixture.store.rekey { _ in
            if refusal == nil { refusal = expectError(.busy) { _ = try other.rekey() } }
        }
        #expect(refusal != nil)
        #expect(try other.check() == [])
    }

    @Test(.aboutFiles("a draft stands beside the file"), arguments: [nil, false, true], [false, true])
    func `a rekey removes the draft of a killed restore alone`(afterLeak: Bool?, isAtWork: Bool) throws {
        let fixture = try TestStore(Self.crowd)
        let (copy, draft) = (fixture.directory.file("copy"), fixture.path.database + ".new")
        _ = try fixture.store.backUp(to: copy)
        #expect(rename(copy, draft) == 0)
        // Who makes a draft has this lock.
        let maker = isAtWork ? try KernelLock(.schema, of: fixture.path, timeout: .seconds(5)) : nil
        let source = afterLeak.map { _ in KeySource.file(fixture.directory.file("other-key")) }
        let note = try fixture.store.rekey(to: source, afterLeak: afterLeak ?? false).note
        withExtendedLifetime(maker) {}
        #expect(FileManager.default.fileExists(atPath: draft) == isAtWork)
        #expect(note?.contains(draft) ?? false == (isAtWork && afterLeak != nil))
    }
}
