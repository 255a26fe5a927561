import Crypto
import Foundation

/// The way of the browser: authorization requests and the exchange of their codes.
extension Site {
    static let verifier = "a-verifier-of-at-least-forty-three-characters-0123456789"

    static var challenge: String {
        Data(SHA256.hash(data: Array(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func authorization(_ more: [String: String] = [:]) -> [String: String] {
        [
            "client_id": "b2c-app", "response_type": "code", "redirect_uri": callback, "state": "st&te",
            "scope": "openid profile offline_access", "code_challenge": challenge, "code_challenge_method": "S256",
            "nonce": "n-1",
        ].merging(more) { _, given in given }
    }

    func authorizeURL(_ authority: String, _ more: [String: String] = [:]) -> String {
        "\(authority)/oauth2/v2.0/authorize?\(Self.encode(Self.authorization(more)))"
    }

    func redeem(_ code: String, _ authority: String, _ more: [String: String] = [:]) async throws -> Answer {
        let form = [
            "client_id": "b2c-app", "grant_type": "authorization_code", "code": code, "redirect_uri": Self.callback,
            "code_verifier": Self.verifier,
        ]
        return try await post("\(authority)/oauth2/v2.0/token", form.merging(more) { _, given in given })
    }
}
