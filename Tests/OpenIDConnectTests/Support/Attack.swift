import Crypto
import Foundation
import OAuth
import OpenIDConnect
import Testing

/// A token that must not get anyone in.
struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let flaw: IDTokenFlaw

    /// Whether jwt-kit refuses it too, with the checks of `PeerClaims`; where not, ours is the stricter one.
    let isRefusedByPeer: Bool
    let change: @Sendable (inout Draft) -> Void

    var testDescription: String { name }

    private init(
        _ name: String,
        _ flaw: IDTokenFlaw,
        peerRefuses: Bool = true,
        _ change: @escaping @Sendable (inout Draft) -> Void
    ) {
        self.name = name
        self.flaw = flaw
        isRefusedByPeer = peerRefuses
        self.change = change
    }

    static let all = signatures + headers + texts + claims

    private static let signatures = [
        Attack("another key of the same kind") { $0.sign = $0.otherPair.sign },
        Attack("one bit of the signature") { draft in
            draft.sign = { [pair = draft.pair] in
                var signature = try pair.sign($0)
                signature[signature.startIndex + 5] ^= 1
                return signature
            }
        },
        Attack("half a signature") { draft in
            draft.sign = { [pair = draft.pair] in
                let signature = try pair.sign($0)
                return signature.prefix(signature.count / 2)
            }
        },
        Attack("a signature of zeros") { $0.sign = { _ in Data(count: 64) } },
        Attack("no signature") { $0.sign = { _ in Data() } },
        Attack("other claims under the signature") { draft in
            draft.join = { [claims = draft.claims] parts in
                let others = claims.map { "\"\($0.name)\":\($0.name == "sub" ? "\"t\"" : $0.json)" }
                let payload = Base64URL.encode("{\(others.joined(separator: ","))}".utf8)
                return "\(parts[0]).\(payload).\(parts[2])"
            }
        },
        Attack("another header over the signature") { draft in
            draft.join = { [algorithm = draft.pair.algorithm] parts in
                let header = Base64URL.encode(#"{"kid":"k","alg":"\#(algorithm)"}"#.utf8)
                return "\(header).\(parts[1]).\(parts[2])"
            }
        },
    ]

    private init(_ name: String, _ change: @escaping @Sendable (inout Draft) -> Void) {
        self.init(name, .signature, change)
    }

    private static let headers = [
        Attack("alg none", .algorithm) {
            $0.setHeader("alg", #""none""#)
            $0.sign = { _ in Data() }
        },
        Attack("alg nOnE with a signature", .algorithm, peerRefuses: false) { $0.setHeader("alg", #""nOnE""#) },
        Attack("HS256 with the public key as its secret", .algorithm) { draft in
            draft.setHeader("alg", #""HS256""#)
            draft.sign = { [jwk = draft.pair.jwk] message in
                let secret = SymmetricKey(data: Data((jwk["n"] ?? jwk["x"])?.text?.utf8 ?? "".utf8))
                return Data(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: secret))
            }
        },
        Attack("an algorithm of another kind of key", .unsuitableKey, peerRefuses: false) { draft in
            draft.setHeader("alg", draft.pair.algorithm == "ES256" ? #""RS256""# : #""ES256""#)
        },
        Attack("an algorithm that is none of ours", .algorithm, peerRefuses: false) {
            $0.setHeader("alg", #""ES256K""#)
        },
        Attack("an algorithm that is not text", .algorithm) { $0.setHeader("alg", "256") },
        Attack("no algorithm", .algorithm, peerRefuses: false) { $0.header.removeAll { $0.name == "alg" } },
        Attack("a critical extension", .criticalExtension, peerRefuses: false) {
            $0.setHeader("crit", #"["b64"]"#)
            $0.setHeader("b64", "true")
        },
        Attack("an empty list of critical extensions", .criticalExtension, peerRefuses: false) {
            $0.setHeader("crit", "[]")
        },
        Attack("an access token in the place of an ID token", .type, peerRefuses: false) {
            $0.setHeader("typ", #""at+jwt""#)
        },
        Attack("two algorithms", .repeatedMember, peerRefuses: false) {
            $0.header.append(("alg", "\"\($0.pair.algorithm)\""))
        },
        Attack("a key id that is not published", .unknownKey, peerRefuses: false) { $0.setHeader("kid", #""other""#) },
        Attack("a key inside the token", .signature) { draft in
            draft.setHeader("jwk", JSONValue.object(draft.otherPair.jwk).serialized)
            draft.sign = draft.otherPair.sign
        },
        Attack("an address of keys inside the token", .signature) { draft in
            draft.setHeader("jku", #""https://attacker.example/keys""#)
            draft.sign = draft.otherPair.sign
        },
        Attack("a key id that is not text", .unreadable) { $0.setHeader("kid", "7") },
    ]

    private static let texts = [
        Attack("padding", .unreadable, peerRefuses: false) { $0.join = { $0.joined(separator: ".") + "==" } },
        Attack("padding inside", .unreadable) { $0.join = { "\($0[0])=.\($0[1]).\($0[2])" } },
        Attack("white space", .unreadable) { $0.join = { "\($0[0]).\($0[1]).\($0[2])\n" } },
        Attack("the other alphabet", .unreadable) { draft in
            draft.join = { parts in
                // jwt-kit reads both alphabets: the characters must not mean what was there.
                let other = parts[2].hasPrefix("-_") ? "/+" : "+/"
                return "\(parts[0]).\(parts[1]).\(other)\(parts[2].dropFirst(2))"
            }
        },
        Attack("a lone character", .unreadable) { draft in
            draft.join = { parts in
                let missing = (4 - parts[2].count % 4) % 4
                return parts.joined(separator: ".") + String(repeating: "A", count: (missing + 1) % 4)
            }
        },
        Attack("left-over bits", .unreadable, peerRefuses: false) { draft in
            // The signatures are 64 or 256 bytes, so that the last character has bits to spare.
            draft.join = { parts in
                let last = parts[2].utf8.last.map { $0 == UInt8(ascii: "z") ? "y" : Character(UnicodeScalar($0 + 1)) }
                return "\(parts[0]).\(parts[1]).\(parts[2].dropLast())\(last ?? "A")"
            }
        },
        Attack("two parts", .unreadable) { $0.join = { "\($0[0]).\($0[1])" } },
        Attack("four parts", .unreadable) { $0.join = { $0.joined(separator: ".") + "." } },
        Attack("nothing", .unreadable) { $0.join = { _ in "" } },
        Attack("a header that is a list", .unreadable) { $0.join = { "W10.\($0[1]).\($0[2])" } },
        Attack("claims that are no JSON", .unreadable) { $0.join = { "\($0[0]).e30x.\($0[2])" } },
    ]

    private static let claims = [
        Attack("another issuer", .issuer) { $0.set("iss", #""https://j.example""#) },
        Attack("an issuer with a slash more", .issuer) { $0.set("iss", #""https://i.example/""#) },
        Attack("no issuer", .missing("iss")) { $0.claims.removeAll { $0.name == "iss" } },
        Attack("two issuers", .repeatedMember, peerRefuses: false) { $0.claims.append(("iss", $0.claims[0].json)) },
        Attack("two subjects, one in escapes", .repeatedMember, peerRefuses: false) {
            $0.claims.append((#"\u0073ub"#, #""s""#))
        },
        Attack("no subject", .missing("sub")) { $0.claims.removeAll { $0.name == "sub" } },
        Attack("a subject that is a number", .mistyped("sub")) { $0.set("sub", "7") },
        Attack("an empty subject", .emptySubject, peerRefuses: false) { $0.set("sub", #""""#) },
        Attack("another audience", .audience) { $0.set("aud", #""other""#) },
        Attack("an audience that begins alike", .audience) { $0.set("aud", #"["app2","ap"]"#) },
        Attack("no audience", .missing("aud")) { $0.claims.removeAll { $0.name == "aud" } },
        Attack("an audience in another case", .audience) { $0.set("aud", #""App""#) },
        Attack("a number among the audiences", .mistyped("aud")) { $0.set("aud", #"["app",7]"#) },
        Attack("several audiences without an authorized party", .furtherAudiences, peerRefuses: false) {
            $0.set("aud", #"["app","other"]"#)
        },
        Attack("another authorized party", .authorizedParty, peerRefuses: false) { $0.set("azp", #""other""#) },
        Attack("an authorized party that is not text", .authorizedParty, peerRefuses: false) { $0.set("azp", "[]") },
        Attack("past its end", .expired) { $0.set("exp", "1500") },
        Attack("no end", .missing("exp")) { $0.claims.removeAll { $0.name == "exp" } },
        Attack("an end in text", .mistyped("exp")) { $0.set("exp", #""2000""#) },
        Attack("before its beginning", .notYetValid) { $0.set("nbf", "1501") },
        Attack("issued tomorrow", .notYetValid, peerRefuses: false) { $0.set("iat", "87900") },
        Attack("issued at no time", .missing("iat")) { $0.claims.removeAll { $0.name == "iat" } },
        Attack("another nonce", .nonce) { $0.set("nonce", #""m""#) },
        Attack("no nonce", .nonce) { $0.claims.removeAll { $0.name == "nonce" } },
        Attack("the hash of another access token", .accessToken, peerRefuses: false) {
            $0.set("at_hash", #""AAAAAAAAAAAAAAAAAAAAAA""#)
        },
        Attack("a hash that is not text", .accessToken, peerRefuses: false) { $0.set("at_hash", "7") },
    ]
}
