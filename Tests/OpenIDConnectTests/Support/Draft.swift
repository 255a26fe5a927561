import Foundation
import OAuth

/// An ID token before it is signed, which an attack changes.
struct Draft {
    static let now: Int64 = 1_500
    static let issuer = "https://i.example"

    /// Names with JSON texts, so that a name can be there twice.
    var header: [(name: String, json: String)]
    var claims: [(name: String, json: String)] = [
        ("iss", #""https://i.example""#), ("aud", #""app""#), ("sub", #""s""#), ("exp", "2000"), ("iat", "1000"),
        ("nonce", #""n""#),
    ]

    /// The pair that the issuer publishes, and one that it does not.
    let pair: KeyPair
    let otherPair: KeyPair

    /// Makes the signature; nil: with the pair that the issuer publishes.
    var sign: ((String) throws -> Data)?

    /// Puts the three parts together.
    var join: ([String]) -> String = { $0.joined(separator: ".") }

    init(_ pairs: (own: KeyPair, other: KeyPair)) {
        (pair, otherPair) = pairs
        header = [("alg", "\"\(pair.algorithm)\""), ("kid", #""k""#), ("typ", #""JWT""#)]
    }

    var token: String {
        get throws {
            let parts = [header, claims].map { members in
                let texts = members.map { "\"\($0.name)\":\($0.json)" }
                return Base64URL.encode("{\(texts.joined(separator: ","))}".utf8)
            }
            let signature = try (sign ?? pair.sign)(parts.joined(separator: "."))
            return join(parts + [Base64URL.encode(signature)])
        }
    }

    mutating func set(_ name: String, _ json: String) {
        claims.removeAll { $0.name == name }
        claims.append((name, json))
    }

    mutating func setHeader(_ name: String, _ json: String) {
        header.removeAll { $0.name == name }
        header.append((name, json))
    }
}
