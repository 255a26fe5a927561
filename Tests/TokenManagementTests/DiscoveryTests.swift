import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Where endpoints come from, how long that is believed, and where nothing is sent.
@Suite(.onBothEngines)
struct DiscoveryTests {
    private static let answer = #"{"access_token":"at-1","expires_in":0,"refresh_token":"rt-1"}"#
    private static let discovery = MetadataDiscovery(
        transport: Scene.transport,
        limits: HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
    )
    private static let oauthPath = "/.well-known/oauth-authorization-server/op"

    @Test func `an issuer that publishes by RFC 8414 only is found there`() async throws {
        let scene = try OpenScene()
        scene.issuer.publish(at: Self.oauthPath)
        scene.issuer.answer(.init(Self.answer))
        scene.expire()
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.issuer.metadataRequests == 1)
        #expect(scene.issuer.forms(Self.oauthPath).count == 1)
    }

    @Test func `an endpoint in one of two documents is used, and replaces none of the other's`() async throws {
        let scene = try OpenScene()
        let base = scene.issuer.issuer
        scene.issuer.publish(JSONValue.Object([("revocation_endpoint", .null)]))
        let revoke = (name: "revocation_endpoint", place: base + "/revoke")
        let others: [([(name: String, place: String)], String?)] = [
            ([revoke], base + "/revoke"), ([("device_authorization_endpoint", base + "/device")], nil),
            // Of another issuer, with another token endpoint, or elsewhere: left alone.
            ([revoke, ("issuer", "https://a.example")], nil), ([revoke, ("token_endpoint", base + "/other")], nil),
            ([("revocation_endpoint", "https://a.example/revoke")], nil), ([("revocation_endpoint", "")], nil),
        ]
        for (document, revocation) in others {
            scene.issuer.publishAlso(
                JSONValue.Object(document.map { ($0.name, .string($0.place)) }),
                at: Self.oauthPath
            )
            let (metadata, lifetime) = try await Self.discovery.metadata(of: Authority(issuer: base))
            #expect(metadata.revocationEndpoint == revocation)
            #expect(metadata.tokenEndpoint == base + "/token")
            #expect(lifetime == 86_400)
        }
        scene.issuer.answer(.init(status: 503), at: Self.oauthPath)
        #expect(try await Self.discovery.metadata(of: Authority(issuer: base)).lifetime == 3_600)
    }

    @Test func `a complete metadata document is the only one that is fetched`() async throws {
        let scene = try OpenScene()
        let base = scene.issuer.issuer
        scene.issuer.publish(
            JSONValue.Object([
                ("revocation_endpoint", .string(base + "/revoke")),
                ("device_authorization_endpoint", .string(base + "/device")),
            ])
        )
        _ = try await Self.discovery.metadata(of: Authority(issuer: base))
        #expect(scene.issuer.forms(Self.oauthPath).isEmpty)
    }

    @Test func `a sign-out revokes at an endpoint that only the RFC 8414 document names`() async throws {
        let scene = try OpenScene()
        let revoke = JSONValue.Object([("revocation_endpoint", .string(scene.issuer.issuer + "/revoke"))])
        scene.issuer.publishAlso(revoke, at: Self.oauthPath)
        scene.issuer.answer(.init(), at: "/op/revoke")
        #expect(try await scene.manager().signOut(scene.account) == .revoked)
        #expect(scene.issuer.forms("/op/revoke").count == 1)
    }

    @Test func `a sign-out revokes at an endpoint that the issuer offers since its metadata were kept`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(Self.answer))
        scene.expire()
        _ = try await scene.acquire()
        scene.issuer.publish(JSONValue.Object([("revocation_endpoint", .string(scene.issuer.issuer + "/revoke"))]))
        scene.issuer.answer(.init(), at: "/op/revoke")
        #expect(try await scene.manager().signOut(scene.account) == .revoked)
        #expect(scene.issuer.forms("/op/revoke").count == 1)
    }

    @Test func `an issuer that publishes nothing is an error that names the address`() async throws {
        let scene = try OpenScene()
        scene.issuer.publish(at: "/elsewhere")
        scene.expire()
        guard case .metadata(let error)? = try await scene.failure()?.failure?.kind else {
            throw ExpectationFailure("a metadata error")
        }
        #expect(error == .notMetadata(url: scene.issuer.issuer + "/.well-known/openid-configuration", status: 404))
        #expect(scene.tokenRequestCount == 0)
        #expect(try scene.refreshTokens.count == 1)
    }

    @Test(
        arguments: [
            (nil, 86_400), ("max-age=7200, public", 7_200), ("max-age=1", 3_600), ("max-age=99999999", 604_800),
            ("no-store", 86_400),
        ] as [(String?, Int64)]
    )
    func `metadata is kept for as long as it says, an hour at least and a week at most`(
        directive: String?,
        lifetime: Int64
    ) async throws {
        let scene = try OpenScene()
        scene.issuer.publish(headers: directive.map { ["Cache-Control: \($0)"] } ?? [])
        scene.issuer.answer(.init(Self.answer))
        scene.expire()
        for (advance, requests) in [(0, 1), (lifetime - 1, 1), (1, 2)] {
            scene.clock.seconds += advance
            #expect(try await scene.acquire().source == .refresh)
            #expect(scene.issuer.metadataRequests == requests)
        }
    }

    @Test func `another issuer's metadata is refused before anything is sent`() async throws {
        let scene = try OpenScene()
        scene.issuer.publish(JSONValue.Object([("issuer", "https://other.example")]))
        scene.expire()
        let failure = try await scene.failure()?.failure?.kind
        guard case .metadata(.otherIssuer(_, "https://other.example"))? = failure else {
            throw ExpectationFailure("otherIssuer")
        }
        #expect(scene.tokenRequestCount == 0)
    }

    @Test(arguments: ["https://192.0.2.1/token", "http://login.example/token", "token"])
    func `C76: an endpoint outside the authority's hosts receives nothing`(endpoint: String) async throws {
        let scene = try OpenScene()
        scene.issuer.publish(JSONValue.Object([("token_endpoint", .string(endpoint))]))
        scene.expire()
        guard try await scene.failure()?.interaction == .foreignEndpoint else {
            throw ExpectationFailure("foreignEndpoint")
        }
        #expect(try scene.refreshTokens.count == 1)
    }

    @Test func `stored metadata is checked again when it is read`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(Self.answer))
        scene.expire()
        _ = try await scene.acquire()
        try scene.store.sql("UPDATE issuer_document SET document = replace(document, '127.0.0.1', 'login.example')")
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.issuer.metadataRequests == 2)
        #expect(scene.tokenRequestCount == 2)
    }

    @Test(arguments: [301, 302, 307, 308, 404, 405, 410])
    func `a token endpoint that has moved is found, and has the refresh token once`(status: Int) async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(Self.answer))
        scene.expire()
        _ = try await scene.acquire()
        scene.issuer.answer(.init(status: status, "<p>gone</p>"))
        scene.issuer.publish(JSONValue.Object([("token_endpoint", .string(scene.issuer.issuer + "/moved"))]))
        scene.issuer.answer(.init(Self.answer.replacing("rt-1", with: "rt-2")), at: "/op/moved")
        #expect(try await scene.acquire().source == .refresh)
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.issuer.metadataRequests == 2)
        #expect(scene.tokenRequestCount == 2)
        #expect(scene.issuer.forms("/op/moved").map { $0["refresh_token"] } == ["rt-1", "rt-2"])
    }

    @Test func `for a token endpoint that is gone the metadata is asked once a minute`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(status: 404, "<p>gone</p>"))
        scene.expire()
        for _ in 1...3 { #expect(try await scene.failure()?.status == 404) }
        #expect(scene.issuer.metadataRequests == 2)
        #expect(scene.tokenRequestCount == 3)
        scene.clock.seconds += 60
        #expect(try await scene.failure()?.status == 404)
        #expect(scene.issuer.metadataRequests == 3)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-0")])
    }

    @Test func `a redirect of the metadata or of the token endpoint is not followed`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 307, headers: ["Location: /op/other"]))
        guard let answer = try await scene.failure(), answer.code == .unusableAnswer else {
            throw ExpectationFailure("unusableAnswer")
        }
        #expect(answer.status == 307)
        #expect(scene.issuer.forms("/op/other").isEmpty)
        let other = try OpenScene()
        other.expire()
        other.issuer.answer(
            .init(status: 302, headers: ["Location: /moved"]),
            at: "/op/.well-known/openid-configuration"
        )
        guard case .metadata(.notMetadata(_, 302))? = try await other.failure()?.failure?.kind else {
            throw ExpectationFailure("notMetadata")
        }
        #expect(other.issuer.forms("/moved").isEmpty)
    }

    @Test func `each user flow of a tenant has its own metadata`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            for policy in ["B2C_1_susi", "B2C_1_edit"] {
                let (account, authority) = try scene.addAccount(policy: policy)
                var request = SilentRequest(account: account, scope: Scene.demo)
                request.authority = authority
                for _ in 1...2 {
                    let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(request) }
                    #expect(error?.needsInteraction == true, "\(String(describing: error))")
                }
            }
            #expect(scene.provider.audit.count(of: "metadata") == 2)
        }
    }

    @Test(arguments: [
        ("https://t.b2clogin.com/tfp/t.onmicrosoft.com/B2C_1_SI", "/tfp/t.onmicrosoft.com/b2c_1_si"),
        ("https://t.b2clogin.com/t.onmicrosoft.com/B2C_1_SI", "/tfp/t.onmicrosoft.com/b2c_1_si"),
        ("https://login.microsoftonline.com/tfp/t/B2C_1_SI", "/tfp/t/b2c_1_si"),
        ("https://login.microsoftonline.com/common", "/common"),
        ("https://t.ciamlogin.com/", "/t.onmicrosoft.com"),
        ("https://t.ciamlogin.com/11111111-2222-4333-8444-555555555555", "/11111111-2222-4333-8444-555555555555"),
    ])
    func `every form of an authority has its metadata address`(text: String, path: String) throws {
        let authority = try Authority(parsing: text)
        let url = "https://\(authority.environment)\(path)/v2.0/.well-known/openid-configuration"
        #expect(authority.metadataURLs == [url])
    }

    @Test func `AD FS has its metadata where its issuer says`() throws {
        let authority = try Authority(parsing: "https://fs.contoso.example/adfs/")
        #expect(authority.metadataURLs == ["https://fs.contoso.example/adfs/.well-known/openid-configuration"])
        #expect(authority.mayBe("https://fs.contoso.example/adfs"))
    }

    @Test func `the OpenID address of the metadata is tried before the one of RFC 8414`() throws {
        let urls = try Authority(issuer: "https://id.example/a/b/").metadataURLs
        #expect(
            urls == [
                "https://id.example/a/b/.well-known/openid-configuration",
                "https://id.example/.well-known/oauth-authorization-server/a/b",
            ]
        )
    }
}
