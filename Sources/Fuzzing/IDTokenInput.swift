import Crypto
import OAuth
import OpenIDConnect

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// ID tokens, decoded and validated: the compact form as it is or, on separate lines, a header and a payload that
/// are put into it and signed as the header says.
struct IDTokenInput: FuzzInput {
    private let p256: P256.Signing.PrivateKey
    private let ed25519: Curve25519.Signing.PrivateKey
    private let keys: JSONWebKeySet
    private let validator: IDTokenValidator

    static let now: Int64 = 1_790_000_000

    init() throws {
        p256 = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 7, count: 32))
        ed25519 = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        let point = p256.publicKey.rawRepresentation
        keys = JSONWebKeySet(
            JSONValue.Object([
                (
                    "keys",
                    [
                        [
                            "kty": "EC", "crv": "P-256", "kid": "p", "x": .string(Base64URL.encode(point.prefix(32))),
                            "y": .string(Base64URL.encode(point.suffix(32))),
                        ],
                        [
                            "kty": "OKP", "crv": "Ed25519", "kid": "e",
                            "x": .string(Base64URL.encode(ed25519.publicKey.rawRepresentation)),
                        ],
                    ]
                )
            ])
        )
        var validator = IDTokenValidator(issuer: "https://id.example/{tenantid}/v2.0", clientID: "app")
        validator.nonce = "n"
        validator.accessToken = Secret("access")
        validator.subject = "s"
        self.validator = validator
    }

    func run(_ bytes: [UInt8]) throws {
        let text = compact(bytes)
        let decoded = try unlessRefused(by: IDTokenError.self) { try IDToken(decoding: text) }
        guard let token = decoded else { return }
        try look(token.claims)
        let payload = JSONValue.object(token.claims.payload)
        try hold(try JSONValue(parsing: payload.serialized) == payload, "claims written are the claims read")
        let signed: Void? = try unlessRefused(by: IDTokenFlaw.self) {
            try validator.checkSignature(of: token, keys: keys)
        }
        for clocks in [[Self.now], [.min, .max], []] {
            _ = try unlessRefused(by: IDTokenFlaw.self) { try validator.checkClaims(of: token, clocks: clocks) }
        }
        _ = keys.isOutdated(for: token)
        guard signed != nil else { return }
        let altered: Void? = try unlessRefused(by: IDTokenError.self, IDTokenFlaw.self) {
            try validator.checkSignature(of: IDToken(decoding: Self.altered(text)), keys: keys)
        }
        try hold(altered == nil, "a signature is good for one token only")
    }

    /// Reads every claim that has a meaning here.
    private func look(_ claims: Claims) throws {
        _ = (claims.userFlow, claims.username, claims.localAccountID, claims.audiences, claims.issuedAt)
        _ = claims.hashValue
        for member in claims.payload.members.prefix(16) {
            try hold(claims[path: member.name] == claims.payload[member.name], "a whole name wins over a path")
        }
    }

    private func compact(_ bytes: [UInt8]) -> Secret {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard lines.count == 2 else { return bytes.withUnsafeBytes { Secret(copying: $0) } }
        let message = lines.map { Base64URL.encode($0) }.joined(separator: ".")
        let signature: [UInt8]
        if lines[0].firstRange(of: Array("ES256".utf8)) != nil {
            signature = (try? p256.signature(for: Data(message.utf8))).map { [UInt8]($0.rawRepresentation) } ?? []
        } else {
            signature = (try? ed25519.signature(for: Data(message.utf8))).map { [UInt8]($0) } ?? []
        }
        return Secret("\(message).\(Base64URL.encode(signature))")
    }

    /// The token with another payload under the same signature.
    private static func altered(_ token: Secret) -> Secret {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        return Secret("\(parts[0]).\(Base64URL.encode("{ \"iss\":\"https://id.example\"}".utf8)).\(parts[2])")
    }
}
