import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct ClaimsProviderTests {
    /// The standard seed with a claims provider at the code client.
    private func seed(_ url: String, onFailure: String = "refuse") throws -> Seed {
        let provider = #"""
            "claimsProvider": {"url": "\#(url)", "timeoutMilliseconds": 1000, "onFailure": "\#(onFailure)",
             "claims": {"tier": "loyalty_tier", "teams": "teams", "vip": "vip", "subject": "sub"}},
            """#
        let json = Seed.standardJSON.replacing(#""name": "Code app","#, with: provider + #""name": "Code app","#)
        return try Seed(json: Data(json.utf8))
    }

    private static func answer(_ claims: String) -> String {
        let type = "microsoft.graph.tokenIssuanceStart.provideClaimsForToken"
        return #"{"data":{"actions":[{"@odata.type":"\#(type)","claims":\#(claims)}]}}"#
    }

    private static func response(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
    }

    @Test func `N48: a custom attribute arrives under its claim's name`() async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await site.signInWithPassword().claims(of: "id_token")["loyalty"] == "gold-17")
        }
    }

    @Test func `N49: only mapped claims that are strings or arrays of strings are added`() async throws {
        let claims = #"{"tier":"gold","teams":["a","b"],"vip":true,"other":"x","subject":"me","Tier":"no"}"#
        let server = try RawServer(Self.response(Self.answer(claims)))
        defer { server.stop() }
        try await Site.open(seed: seed(server.url)) { site in
            let token = try await site.signInWithCode().claims(of: "id_token")
            #expect(token["loyalty_tier"] == "gold")
            #expect(token["teams"] == ["a", "b"])
            for absent in ["vip", "other", "tier", "subject", "Tier"] { #expect(token[absent].isNull) }
            #expect(token["sub"].text?.count == 43)
            let request = server.requests.last ?? ""
            let event = try JSONValue(parsing: request.utf8.drop { $0 != UInt8(ascii: "{") })
            #expect(event["type"] == "microsoft.graph.authenticationEvent.tokenIssuanceStart")
            #expect(event["data"]["authenticationContext"]["user"]["mail"].text == Site.bo)
        }
    }

    @Test(arguments: ["<html>", "{}", answer(#"{"tier":"\#(String(repeating: "x", count: 4000))"}"#)])
    func `N50: a malformed answer of a claims provider is requested twice, then refused`(body: String) async throws {
        let server = try RawServer(Self.response(body))
        defer { server.stop() }
        try await Site.open(seed: seed(server.url)) { site in
            let refused = try await site.signInWithCode()
            #expect(refused.error == "server_error")
            #expect(refused["access_token"].isNull)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `N50: an unavailable claims provider fails or is skipped, as the seed says`() async throws {
        let closed = try "http://127.0.0.1:\(UnusedPort().number)/"
        try await Site.open(seed: seed(closed)) { site in
            let challenged = try await site.challenged("otp-app", Site.bo)
            let form = try ["grant_type": "oob", "continuation_token": challenged.token, "oob": site.code(to: Site.bo)]
            #expect(try await site.token("otp-app", form).error == "server_error")
        }
        try await Site.open(seed: seed(closed, onFailure: "omit")) { site in
            let token = try await site.signInWithCode().claims(of: "id_token")
            #expect(token["loyalty_tier"].isNull)
            #expect(token["name"] == "Bo Lind")
        }
    }

    @Test func `the sample service adds its claims to the tokens of every client`() async throws {
        let service = try await SampleClaimsServer.start()
        var configuration = LocalIdentityProvider.Configuration()
        try service.serve(&configuration)
        try await Site.open(seed: configuration.seed) { site in
            let token = try await site.signInWithPassword().claims(of: "id_token")
            #expect(token["loyalty_tier"] == "gold")
            #expect(token["mail_domains"] == ["example.org"])
            #expect(try await Site.send("POST", service.url, body: Array("{".utf8)).status == 400)
        }
        await service.stop()
    }
}
