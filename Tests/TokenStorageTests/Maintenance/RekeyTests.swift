import Foundation
import OAuth
import SQLite
import Sealing
import Synchronization
import TestSupport
import Testing
import TokenStorage

struct RekeyTests {
    struct Interruption: Error {}

    /// More rows than one transaction of a rekey takes.
    private static let crowd = JSON.cache(
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
        // The question comes first: reading a value would bring the new key by itself.
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

    @Test(arguments: ["first", "wrong"])
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

    @Test(arguments: [1, 2, 3])
    func `an interrupted rekey is finished by the next one`(steps: Int) throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let directory = try cutOffRekey(fixture, after: steps)
        let store = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        let next = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        #expect(try store.status().isRekeyUnfinished)
        try expectEverythingReadable(store, export)
        try store.take(JSON.newcomer.serialized)
        #expect(try next.rekey().resumed)
        #expect(try !store.status().isRekeyUnfinished)
        #expect(try store.accounts().count == 301)
        #expect(try store.accounts(matching: .claim("department", equals: "finance")).count == 1)
        #expect(try store.check() == [])
    }

    @Test(arguments: [1, 2, 3])
    func `an import during a rekey finds rows under the old key`(steps: Int) throws {
        let fixture = try TestStore(Self.crowd)
        let export = try fixture.store.exportedText()
        let directory = try cutOffRekey(fixture, after: steps)
        let store = try TokenStore.open(at: StorePath(directory.path), options: fixture.options)
        #expect(try store.take(export).changes == 0)
        let other: JSON = ["AppMetadata": [:], "Private": ["k": "w"]]
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

    @Test func `after a change of key source only the new source opens the store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        let key = fixture.directory.file("other-key")
        let report = try fixture.store.rekey(to: .file(key))
        #expect(report.resealed == 0)
        #expect(report.note != nil)
        #expect(try fixture.request("s1") == .hit("a"))
        try fixture.take(.newcomer)
        _ = try fixture.store.rekey()
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.another().accounts().count == 2)
        try FileManager.default.removeItem(atPath: fixture.directory.file("key"))
        #expect(try fixture.another().check() == [])
    }

    @Test func `a store that was open when the key source changed keeps working`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        let other = try fixture.another()
        _ = try other.rekey(to: .file(fixture.directory.file("other-key")))
        _ = try other.rekey()
        #expect(try fixture.request("s1") == .hit("a"))
        try fixture.take(.newcomer)
        #expect(try other.accounts().count == 2)
        #expect(try other.check() == [])
    }

    @Test func `a store moves to the environment, to a passphrase and back`() throws {
        let key = Data(repeating: 9, count: 32).base64EncodedString()
        let fixture = try TestStore {
            $0.environment = ["TOKENSTORE_KEY": key, "TOKENSTORE_PASSPHRASE": "correct horse battery staple"]
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        for (source, name) in [(KeySource.environment, "environment"), (.passphrase, "passphrase"), (.file, "file")] {
            #expect(try fixture.store.rekey(to: source).keySource == name)
            #expect(try fixture.request("s1") == .hit("a"))
            let another = try fixture.another()
            #expect(try another.status().keySource == name)
            #expect(try another.accounts().count == 1)
        }
    }

    @Test func `a store opened with a named key source follows a change to another kind`() throws {
        let fixture = try TestStore {
            $0.keySource = .file
            $0.environment = ["TOKENSTORE_KEY": Data(repeating: 9, count: 32).base64EncodedString()]
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        _ = try fixture.store.rekey(to: .environment)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `a rekey to a source without a key leaves the store as it was`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        expectError(.keyUnavailable) { _ = try fixture.store.rekey(to: .environment) }
        #expect(try fixture.store.status().keySource == "file")
        #expect(try fixture.another().check() == [])
    }

    /// Everything in the store of `fixture`, read with the keys of an older copy of it; nil where they do not open it.
    private func read(_ fixture: TestStore, withKeysOf old: TemporaryDirectory) throws -> String? {
        let attacker = try TemporaryDirectory()
        let database = attacker.file("tokenstore.db")
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "VACUUM INTO '\(database)'")
        try Shell.run(
            "/usr/bin/sqlite3",
            database,
            """
            PRAGMA journal_mode=WAL; ATTACH '\(old.file("tokenstore.db"))' AS old; DELETE FROM data_key;
            INSERT INTO data_key SELECT * FROM old.data_key; UPDATE store SET key_source = 'file'
            """
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database)
        try FileManager.default.copyItem(atPath: old.file("key"), toPath: attacker.file("key"))
        do {
            return try TokenStore.open(at: StorePath(database), options: fixture.options).exportedText()
        } catch let error as TokenStoreError where error.kind == .damaged {
            return nil
        }
    }

    @Test(arguments: [false, true])
    func `leaked keys open later values unless both keys are changed`(isKnown: Bool) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let leaked = try TemporaryDirectory()
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "VACUUM INTO '\(leaked.file("tokenstore.db"))'")
        try FileManager.default.copyItem(atPath: fixture.directory.file("key"), toPath: leaked.file("key"))
        let source = KeySource.file(fixture.directory.file("new-key"))
        let report = try fixture.store.rekey(to: source, afterLeak: isKnown)
        try fixture.take(.newcomer)
        #expect(try read(fixture, withKeysOf: leaked)?.contains("rn") == (isKnown ? nil : true))
        #expect(try fixture.another().check() == [])
        #expect(try !fixture.store.status().isRekeyUnfinished)
        #expect(isKnown == (report.resealed > 0))
        #expect(report.note?.contains("sign out and in again") == isKnown)
    }

    @Test func `after a leak the same key is refused`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let key = fixture.directory.file("copy")
        try FileManager.default.copyItem(atPath: fixture.directory.file("key"), toPath: key)
        for source in [nil, KeySource.file, .file(key)] {
            expectError(.failure) { _ = try fixture.store.rekey(to: source, afterLeak: true) }
        }
        #expect(try fixture.store.status().keySource == "file")
    }

    @Test func `the advice on the old key file names the file and other stores that use it`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let old = fixture.directory.file("key")
        let neighbour = StorePath(fixture.directory.file("neighbour.db"))
        func advice(_ name: String) throws -> String? {
            _ = try fixture.store.rekey(to: .file)
            return try fixture.store.rekey(to: .file(fixture.directory.file(name))).note
        }
        #expect(try advice("one")?.contains("no store beside it needs it; delete it") == true)
        #expect(try advice("one")?.contains(old) == true)
        _ = try TokenStore.open(at: neighbour, options: fixture.options)
        let note = try #require(try advice("two"))
        #expect(note.contains(neighbour.database))
        #expect(note.contains(old))
        #expect(note.contains("keep it"))
        #expect(!note.contains("delete"))
        try FileManager.default.copyItem(atPath: old, toPath: fixture.directory.file("three"))
        #expect(try advice("three") == nil, "the same key by another name is not an old one")
    }

    @Test func `a rotation in the middle of a rekey leaves no copy of the spent refresh token`() throws {
        let place: KeyValuePairs<String, JSON> = ["home_account_id": "u0.t1"]
        let copy = JSON.refreshToken("r0", ["family_id": "1"]).with(place)
        // The token and its copy are further apart than one transaction of a rekey reaches.
        let tokens = (0..<600).map { JSON.refreshToken("r\($0)", ["home_account_id": .string("u\($0).t1")]) }
        let fixture = try TestStore(JSON.cache(refreshTokens: tokens + [copy]))
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
                var response = TokenResponse(accessToken: Secret("a"), expiresIn: 3_600)
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

    @Test func `two rekeys at once exclude each other`() throws {
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
}

extension JSON {
    /// A user who signs in while a rekey is under way.
    fileprivate static let newcomer = JSON.cache(
        refreshTokens: [.refreshToken("rn", ["home_account_id": "new.t1"])]
    )
}
