import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Rules C01 to C12 and C92: documents of MSAL's unified cache come in and go out.
@Suite(.onBothEngines)
struct ImportExportCases {
    @Test func `C01: a saved response is exported with sorted scopes and times as text`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let row = try #require(try fixture.rows("AccessToken").first)
        #expect(row["target"] == "s1 s2 s3")
        #expect(row["cached_at"] == "1790000000")
        #expect(row["expires_on"] == "1790003600")
        #expect(row["extended_expires_on"] == "1790003600")
        #expect(row["token_type"] == "Bearer")
        #expect(row["secret"] == "a")
    }

    @Test func `C02: refresh_in becomes refresh_on, and is not exported where there was none`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["refresh_in": 1800]))
        #expect(try fixture.rows("AccessToken")[0]["refresh_on"] == "1790001800")
        try fixture.signIn(.signIn())
        #expect(try fixture.rows("AccessToken")[0].object?["refresh_on"] == nil)
    }

    @Test func `C03: exported keys are those of MSAL Python`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        let document = try fixture.export()
        let keys = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"].map {
            document[$0].object?.members.map(\.name)
        }
        let prefix = "u1.t1-login.microsoftonline.com"
        #expect(
            keys == [
                ["\(prefix)-accesstoken-cid-t1-s1 s2 s3"], ["\(prefix)-refreshtoken-cid--s1 s2 s3"],
                ["\(prefix)-idtoken-cid-t1-"], ["\(prefix)-t1"], ["appmetadata-login.microsoftonline.com-cid"],
            ]
        )
    }

    @Test func `C04: a mixed-case key and the credential type IDToken are found`() throws {
        let document: JSONValue = [
            "AccessToken": ["U1.T1-Login.MicrosoftOnline.com-AccessToken-CID-T1-s1": .accessToken("a", "s1")],
            "IdToken": ["x": .idToken(Fixture.claims(), ["credential_type": "IDToken"])],
            "Account": ["x": .account()],
        ]
        let fixture = try TestStore(document)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.idTokens(of: Fixture.account, client: "cid").map(\.idToken.claims.subject) == ["s1"])
    }

    @Test(arguments: [true, false])
    func `C05: of two keys that differ in case the lower-cased one wins`(isLowerFirst: Bool) throws {
        let key = "u1.t1-login.microsoftonline.com-accesstoken-cid-t1-s1"
        let entries: [(name: String, value: JSONValue)] = [
            (key, .accessToken("new", "s1")), (key.uppercased(), .accessToken("old", "s1")),
        ]
        let bucket = JSONValue.object(.init(isLowerFirst ? entries : entries.reversed()))
        let fixture = try TestStore(["AccessToken": bucket])
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["new"])
    }

    @Test func `C06: a numeric expiry is read, applied and exported as text`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1", ["expires_on": 1_790_003_600])))
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.rows("AccessToken")[0]["expires_on"] == "1790003600")
        fixture.clock.seconds = Fixture.now + 3400
        #expect(try fixture.request("s1") == .refresh(["r1"]))
    }

    @Test func `C92: an access token without an expiry is in quarantine and never used`() throws {
        let fixture = try TestStore()
        let row = JSONValue.accessToken("a", "s1").with([:], without: "expires_on")
        let report = try fixture.take(.standardCache(row))
        #expect(report.rejected.map(\.bucket) == ["AccessToken"])
        #expect(try fixture.store.status().quarantined == 1)
        #expect(try fixture.request("s1") == .refresh(["r1"]))
        #expect(try fixture.rows("AccessToken") == [row])
    }

    @Test func `C07: unknown fields and buckets outlive a refresh`() throws {
        let fixture = try TestStore()
        let strange: JSONValue = ["deep": [1, .number("1.50"), nil, "ü"], "deeper": ["a": ["b": true]]]
        let document = JSONValue.standardCache(.accessToken("a", "s1", ["x_trace": strange]))
        try fixture.take(document.with(["HarborPrivateBucket": ["k1": strange]]))
        try fixture.refresh(.new(["scope": "s1"]))
        let row = try #require(try fixture.rows("AccessToken").first)
        #expect(row["secret"] == "new")
        #expect(row["x_trace"] == strange)
        #expect(try fixture.export()["HarborPrivateBucket"] == ["k1": strange])
    }

    @Test func `C08: an invalid row is kept in quarantine and exported unchanged`() throws {
        let fixture = try TestStore()
        let report = try fixture.take(.standardCache(.accessToken("a", "s1"), ["foo": "bar"]))
        #expect(report.accessTokens == 1)
        #expect(report.rejected.count == 1)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.status().quarantined == 1)
        #expect(try fixture.rows("AccessToken").contains(["foo": "bar"]))
    }

    @Test func `C09: a null family counts as absent`() throws {
        let fixture = try TestStore()
        let report = try fixture.take(
            .cache(
                refreshTokens: [.refreshToken("r1", ["family_id": nil])],
                appMetadata: [.appMetadata(["family_id": nil])]
            )
        )
        #expect(report.refreshTokens == 1)
        #expect(report.appMetadata == 1)
        #expect(report.rejected == [])
        #expect(try fixture.currentRefreshToken().familyID == nil)
    }

    @Test(arguments: ["key_id", "keyid", "kid"])
    func `C10: a key id is read under each of its names`(name: String) throws {
        let row = JSONValue.accessToken("a", "s1", ["token_type": "pop", name: "k1"])
        let fixture = try TestStore(.standardCache(row))
        let answer = try fixture.request("s1") {
            $0.tokenType = "pop"
            $0.keyID = "k1"
        }
        #expect(answer == .hit("a"))
        let exported = try #require(try fixture.rows("AccessToken").first)
        #expect(exported["key_id"] == "k1")
        #expect(exported["kid"] == "k1")
    }

    @Test func `C11: the misspelled authority map of MSAL for Apple's systems is followed`() throws {
        let metadata: JSONValue = [
            "cid": [
                "client_id": "cid",
                "account_metadata_map": [
                    "u1.t1": [
                        "client_id": "cid", "home_account_id": "u1.t1", "sign_in_state": "signed_in",
                        "athority_map": [
                            "URLMap-": [
                                "https://login.microsoftonline.com/common": "https://login.microsoftonline.com/t2"
                            ]
                        ],
                    ]
                ],
            ]
        ]
        let document = JSONValue.standardCache(
            .accessToken("home", "s1"),
            .accessToken("mapped", "s1", ["realm": "t2"])
        )
        let fixture = try TestStore(document.with(["AccountMetadataMap": metadata]))
        #expect(try fixture.request("s1", at: "https://login.microsoftonline.com/common") == .hit("mapped"))
        #expect(try fixture.request("s1", at: "https://login.microsoftonline.com/organizations") == .hit("home"))
        #expect(try fixture.store.signInState(of: Fixture.account, client: "cid") == .signedIn)
    }

    @Test(arguments: [(nil, 600), ("3599", 3599), (-5, 0)] as [(JSONValue?, Int64)])
    func `C12: a lifetime is text or a number, has a default and is never negative`(
        expiresIn: JSONValue?,
        lifetime: Int64
    ) throws {
        let fixture = try TestStore()
        let body = try TokenResponse.signIn(["expires_in": expiresIn ?? nil])
        try fixture.signIn(body)
        #expect(try fixture.rows("AccessToken")[0]["expires_on"] == .seconds(Fixture.now + lifetime))
    }
}
