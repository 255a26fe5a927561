import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Documents of several libraries beside one another, and over a session that the store has renewed itself.
@Suite(.onBothEngines)
struct ImportedSessionTests {
    /// What tells how old a document is that names no time beside its refresh token.
    enum Evidence: CaseIterable {
        case idToken, accessToken
    }

    /// A document with a refresh token: as MSAL for Python writes it, with its scope and its time, or as MSAL for Go
    /// and MSAL.NET write it, with neither.
    private func document(
        _ secret: String,
        at time: Int64,
        isTimed: Bool = false,
        _ evidence: Evidence = .idToken
    ) -> JSONValue {
        let fields: KeyValuePairs<String, JSONValue> =
            isTimed ? ["target": "s1", "last_modification_time": .seconds(time)] : [:]
        return .cache(
            accessTokens: evidence == .accessToken ? [.accessToken("a", "s2", ["cached_at": .seconds(time)])] : [],
            refreshTokens: [.refreshToken(secret, fields)],
            idTokens: evidence == .idToken ? [.idToken(Fixture.claims(["iat": .number("\(time)")]))] : []
        )
    }

    @Test(arguments: Evidence.allCases, [false, true])
    func `the refresh token of the newer document goes first, whichever of them has a time`(
        evidence: Evidence,
        isNewerTimed: Bool
    ) throws {
        let older = document("old", at: Fixture.now - 900, isTimed: !isNewerTimed, evidence)
        let newer = document("new", at: Fixture.now - 90, isTimed: isNewerTimed, evidence)
        for documents in [[older, newer], [newer, older], [older, newer, older]] {
            let fixture = try TestStore()
            for document in documents { try fixture.take(document) }
            #expect(try fixture.request("s9") == .refresh(["new", "old"]))
            let export = try fixture.export()
            for document in [older, newer] { #expect(try fixture.take(document).changes == 0) }
            #expect(try fixture.export() == export)
            #expect(try TestStore(export).request("s9") == .refresh(["new", "old"]))
        }
    }

    @Test func `a refresh token without a time goes back out without one`() throws {
        let fixture = try TestStore(document("r1", at: Fixture.now - 90))
        #expect(try fixture.rows("RefreshToken") == [.refreshToken("r1")])
        #expect(try fixture.currentRefreshToken().modifiedAt == nil)
        let odd = JSONValue.refreshToken("r2", ["last_modification_time": "-90"])
        #expect(try TestStore(.cache(refreshTokens: [odd])).rows("RefreshToken") == [odd])
    }

    @Test func `a refresh token that a newer document has again goes before one that was stored meanwhile`() throws {
        let fixture = try TestStore(document("shared", at: Fixture.now - 900))
        try fixture.take(document("other", at: Fixture.now - 500, isTimed: true))
        #expect(try fixture.request("s9") == .refresh(["other", "shared"]))
        let newer = document("shared", at: Fixture.now - 90)
        #expect(try fixture.take(newer).refreshTokens == 0)
        #expect(try fixture.request("s9") == .refresh(["shared", "other"]))
    }

    @Test func `a session that was renewed after a document goes before the document's refresh token`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        fixture.clock.seconds = Fixture.now + 1_000
        // The issuer goes on with the refresh token that it gave before.
        let idToken = Fixture.idToken(Fixture.claims(["iat": .number("\(Fixture.now + 1_000)")]))
        try fixture.refresh(
            .new(["id_token": .string(idToken), "client_info": .string(Fixture.clientInfo("u1", "t1"))])
        )
        let older = document("other", at: Fixture.now + 500)
        try fixture.take(older)
        #expect(try fixture.request("s9") == .refresh(["r", "other"]))
        #expect(try fixture.take(older).changes == 0)
    }

    @Test(arguments: Evidence.allCases)
    func `a refresh token that a refresh brought without an ID token stays before older documents`(
        evidence: Evidence
    ) throws {
        let fixture = try TestStore(document("r1", at: Fixture.now - 900, evidence))
        try fixture.refresh(.new(["refresh_token": "r2"]))
        let between = document("r3", at: Fixture.now - 90, evidence)
        #expect(try fixture.take(between).refreshTokens == 0)
        #expect(try fixture.request("s9") == .refresh(["r2"]))
        #expect(try fixture.take(between).changes == 0)
        fixture.clock.seconds = Fixture.now + 90
        try fixture.take(document("r4", at: Fixture.now + 60, evidence))
        #expect(try fixture.request("s9") == .refresh(["r4"]))
    }
}
