import Crypto
import CryptoExtras
import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport

/// Verifies signatures with nothing but the published key set and swift-crypto.
struct JWTCheck {
    let site: Site
    var path = "/fabrikvine.onmicrosoft.com"

    init(_ site: Site, path: String = "/fabrikvine.onmicrosoft.com") {
        self.site = site
        self.path = path
    }

    func keys() async throws -> [JSONValue] {
        let answer = try await site.get(site.provider.baseURL + path + "/discovery/v2.0/keys")
        guard let keys = answer["keys"].array else { throw ExpectationFailure("keys") }
        return keys
    }

    func verify(_ token: String) async throws -> Bool {
        let parts = token.split(separator: ".").map(String.init)
        let header = try JSONValue(parsing: Answer.base64URL(parts[0]))
        guard let key = try await keys().first(where: { $0["kid"] == header["kid"] }), key["alg"] == header["alg"]
        else {
            return false
        }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let signature = try Answer.base64URL(parts[2])
        func number(_ name: String) throws -> Data { try Answer.base64URL(key[name].text ?? "") }
        if key["kty"] == "EC" {
            let point = try P256.Signing.PublicKey(rawRepresentation: number("x") + number("y"))
            return point.isValidSignature(try .init(rawRepresentation: signature), for: SHA256.hash(data: signed))
        }
        let rsa = try _RSA.Signing.PublicKey(n: number("n"), e: number("e"))
        return rsa.isValidSignature(
            .init(rawRepresentation: signature),
            for: SHA256.hash(data: signed),
            padding: .insecurePKCS1v1_5
        )
    }
}
