import Crypto
import Foundation
import IssuerSupport
import OAuth
import SignIn
import TestSupport
import Testing

/// Issuers whose clients may not ask for a device code without a proof key, as Keycloak's with "PKCE method S256".
struct DeviceProofKeyTests {
    private static let missing =
        #"{"error":"invalid_request","error_description":"Missing parameter: code_challenge_method"}"#

    /// What was sent to the device endpoint and then to the token endpoint, where a person refuses.
    private func sent(refusing: Bool) async throws -> (device: [[String: String]], token: [[String: String]]) {
        let issuer = try HandmadeIssuer()
        let places = [("device_authorization_endpoint", "/device"), ("jwks_uri", "/keys")]
        issuer.publish(JSONValue.Object(places.map { ($0.0, .string(issuer.issuer + $0.1)) }))
        issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
        let page = #""verification_uri":"\#(issuer.baseURL)/page""#
        let codes = HandmadeIssuer.Answer(#"{"device_code":"d","user_code":"W",\#(page),"interval":5}"#)
        if refusing {
            issuer.answer(.init(status: 400, Self.missing), codes, at: "/op/device")
        } else {
            issuer.answer(codes, at: "/op/device")
        }
        issuer.answer(.init(status: 400, #"{"error":"access_denied"}"#))
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let device = try await scene.begin(at: Authority(issuer: issuer.issuer))
            #expect(try await scene.failure { try await scene.signedIn(device) } == .cancelled)
        }
        return (issuer.forms("/op/device"), issuer.forms())
    }

    @Test func `a client that has to prove a key asks again with one`() async throws {
        let (device, token) = try await sent(refusing: true)
        #expect(device.count == 2)
        #expect(device[0]["code_challenge"] == nil)
        #expect(device[1]["code_challenge_method"] == "S256")
        #expect(device[1]["scope"] == device[0]["scope"])
        let verifier = try #require(token.first?["code_verifier"])
        let challenge = Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
        #expect(device[1]["code_challenge"] == challenge)
    }

    @Test func `nobody else is sent one, as RFC 8628 has none`() async throws {
        let (device, token) = try await sent(refusing: false)
        #expect(device.count == 1)
        #expect(device[0]["code_challenge"] == nil)
        #expect(token.count == 1)
        #expect(token[0]["code_verifier"] == nil)
    }
}
