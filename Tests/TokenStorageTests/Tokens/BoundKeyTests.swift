import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Tokens that are bound to a DPoP key, which is stored with them.
@Suite(.onBothEngines)
struct BoundKeyTests {
    private static let key = BoundKey(thumbprint: "thumb-1", secret: Secret("planted-key-1-of-32-bytes-123456"))
    private static let other = BoundKey(thumbprint: "thumb-2", secret: Secret("planted-key-2-of-32-bytes-123456"))

    /// A store with a session that is bound to a key.
    private static func bound(_ key: BoundKey = key) throws -> TestStore {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
        }
        try fixture.signIn(.signIn(["token_type": "DPoP"])) { $0.newKey = key }
        return fixture
    }

    private static func key(_ store: TokenStore, client: String = "cid") throws -> BoundKey? {
        try store.boundKey(of: Fixture.account, client: client)
    }

    private static func rows(_ store: TokenStore) throws -> Int64? {
        try store.read { try $0.connection.integer("SELECT count(*) FROM dpop_key") }
    }

    @Test func `a sign-in stores its key, and a lookup finds its tokens by it`() throws {
        let fixture = try Self.bound()
        #expect(try Self.key(fixture.another()) == Self.key)
        #expect(try Self.key(fixture.store, client: "CID") == Self.key)
        #expect(try Self.key(fixture.store, client: "cid2") == nil)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.request("s1") { $0.requiresDPoP = true } == .hit("a"))
        #expect(try fixture.store.check() == [])
    }

    @Test func `a token that is not bound does not serve a query for bound ones`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.request("s1") { $0.requiresDPoP = true } == .refresh(["r"]))
    }

    @Test func `a bearer token of a bound session is bound to no key`() throws {
        let fixture = try TestStore()
        let saved = try fixture.signIn(.signIn()) { $0.newKey = Self.key }
        #expect(saved.accessToken?.keyID == nil)
        #expect(try Self.key(fixture.store) == Self.key)
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test func `a refresh under an older key is not stored over a new sign-in`() throws {
        let fixture = try Self.bound()
        let used = try fixture.currentRefreshToken()
        try fixture.signIn(.signIn(["token_type": "DPoP", "access_token": "a2", "refresh_token": "r2"])) {
            $0.newKey = Self.other
        }
        var request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s1 s2 s3",
            grant: .refreshToken
        )
        request.keyID = Self.key.thumbprint
        let late = try TokenResponse.new(["token_type": "DPoP", "access_token": "late", "refresh_token": "r-late"])
        let saved = try fixture.store.save(late, for: request, refreshing: used)
        #expect(saved.accessToken?.secret == Secret("late"))
        #expect(saved.outcome == .storedBesideNewerRefreshToken)
        #expect(try fixture.request("s1") == .hit("a2"))
        #expect(try fixture.currentRefreshToken().secret == Secret("r2"))
        #expect(try fixture.store.status().accessTokens == 1)
    }

    @Test func `a sign-in without a key takes the key and its tokens away`() throws {
        let fixture = try Self.bound()
        try fixture.signIn(.signIn(["access_token": "b", "refresh_token": "r2", "scope": "s9"]), scope: "s9")
        #expect(try Self.rows(fixture.store) == 0)
        #expect(try fixture.request("s1") == .refresh(["r2"]))
        #expect(try fixture.request("s9") == .hit("b"))
    }

    @Test(arguments: [nil, other])
    func `a refresh token goes whose key a sign-in without one replaces`(key: BoundKey?) throws {
        let fixture = try Self.bound()
        let answer = try TokenResponse.signIn(
            ["access_token": "b", "token_type": .string(key == nil ? "Bearer" : "DPoP")],
            without: "refresh_token"
        )
        try fixture.signIn(answer) { $0.newKey = key }
        #expect(try fixture.request("s1") == .hit("b"))
        #expect(try fixture.store.refreshTokens(of: Fixture.account, client: "cid") == [])
        #expect(try fixture.store.check() == [])
    }

    @Test func `a refresh token that was bound to no key stays when a sign-in with a key brings none`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        fixture.clock.seconds += 1
        try fixture.signIn(.signIn(["token_type": "DPoP"], without: "refresh_token")) { $0.newKey = Self.key }
        #expect(try fixture.currentRefreshToken().secret == Secret("r"))
        for key in [Self.other, nil] {
            fixture.clock.seconds += 1
            let type = key == nil ? "Bearer" : "DPoP"
            try fixture.signIn(.signIn(["token_type": .string(type)], without: "refresh_token")) { $0.newKey = key }
            #expect(try fixture.currentRefreshToken().secret == Secret("r"))
        }
    }

    @Test(.aboutFiles("a server has no files beside it"))
    func `the key of a sign-in waits, sealed, with tokens that a held store cannot take`() throws {
        let fixture = try TestStore {
            $0.answerWait = .milliseconds(20)
            $0.pendingWait = .milliseconds(20)
        }
        let holder = try fixture.another()
        try holder.write { _ in
            let saved = try fixture.signIn(.signIn(["token_type": "DPoP"])) { $0.newKey = Self.key }
            guard case .pending = saved.outcome else {
                Issue.record("\(saved.outcome)")
                return
            }
        }
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        #expect(snapshot.names(holding: Data(Self.key.secret.reveal().utf8)) == [])
        let next = try fixture.another()
        #expect(try Self.key(next) == Self.key)
        #expect(try next.check() == [])
        #expect(try fixture.request("s1") == .hit("a"))
    }

    @Test func `a rekey seals the key anew`() throws {
        let fixture = try Self.bound()
        let before = try fixture.store.read { try $0.connection.first("SELECT secret FROM dpop_key") { $0.blob(0) } }
        _ = try fixture.store.rekey()
        let after = try fixture.store.read { try $0.connection.first("SELECT secret FROM dpop_key") { $0.blob(0) } }
        #expect(before != after)
        let snapshot = try DirectorySnapshot(fixture.directory.path)
        #expect(snapshot.names(holding: Data(Self.key.secret.reveal().utf8)) == [])
        #expect(try Self.key(fixture.another()) == Self.key)
    }

    @Test(
        .aboutFiles("the row is altered in the file"),
        arguments: ["thumbprint = 'x'", "client_fold = 'cid2'", "created_at = 1", "secret = zeroblob(60)"]
    )
    func `an altered key proves nothing, and a check finds it`(change: String) throws {
        let fixture = try Self.bound()
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("UPDATE dpop_key SET \(change)")
        let client = change.contains("cid2") ? "cid2" : "cid"
        expectError(.damaged) { _ = try Self.key(fixture.store, client: client) }
        #expect(try fixture.store.check().contains { "\($0)".contains("dpop_key") })
    }

    @Test(.aboutFiles("only a file is repaired"))
    func `a repair salvages the key`() throws {
        let fixture = try Self.bound()
        fixture.store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        #expect(try Self.key(repaired) == Self.key)
        #expect(try repaired.check() == [])
    }

    @Test func `a removed account, a sign-out and a purge of everything leave no key`() throws {
        let fixture = try Self.bound()
        try fixture.signIn(.signIn(["token_type": "DPoP"]), client: "cid2") { $0.newKey = Self.other }
        #expect(try Self.rows(fixture.store) == 2)
        try fixture.store.removeAccount(Fixture.account, client: "cid2")
        #expect(try Self.rows(fixture.store) == 1)
        #expect(try Self.key(fixture.store) == Self.key)
        try fixture.store.removeAccount(Fixture.account)
        #expect(try Self.rows(fixture.store) == 0)
        let again = try Self.bound()
        _ = try TokenStore.purgeAll(at: again.location, options: again.options)
        #expect(try Self.rows(again.store) == 0)
    }

    @Test func `an export leaves out bound tokens, and keeps the account`() throws {
        let fixture = try Self.bound()
        try fixture.signIn(.signIn(["access_token": "b", "refresh_token": "rb"]), client: "cid2")
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["b"])
        #expect(try fixture.rows("RefreshToken").map { $0["secret"] } == ["rb"])
        #expect(try fixture.rows("Account").count == 1)
        #expect(try !fixture.store.exportedText().contains("planted-key"))
    }
}
