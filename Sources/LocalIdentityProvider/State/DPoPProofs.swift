import Crypto
import Foundation
import HTTPTypes
import OAuth
import Synchronization

/// Checks proofs that a client has the key of its tokens (RFC 9449).
package final class DPoPProofs: Sendable {
    /// What a test can change.
    package struct Settings: Sendable {
        /// Whether the metadata names DPoP and proofs are looked at.
        package var isSupported = true

        /// Whether every proof has to repeat the nonce of the provider.
        package var demandsNonce = false

        /// Whether access tokens are bound; otherwise only the refresh tokens are (RFC 9449 section 5).
        package var bindsAccessTokens = true

        package init() {}
    }

    private struct State {
        var settings = Settings()
        var nonce = RandomToken.make(bytes: 16)
        /// When each proof was seen, by its `jti`.
        var seen: [String: Date] = [:]
    }

    /// How far the clocks may be apart, in seconds.
    private static let tolerance: TimeInterval = 60

    private let clock: ProviderClock
    private let state = LockedValue(State())

    init(clock: ProviderClock) { self.clock = clock }

    package var settings: Settings { state.withLock { $0.settings } }

    package func set(_ change: (inout Settings) -> Void) { state.withLock { change(&$0.settings) } }

    /// Makes the nonce that clients know worthless.
    package func changeNonce() { state.withLock { $0.nonce = RandomToken.make(bytes: 16) } }

    /// The nonce that an answer to `exchange` carries, if any.
    func nonce(for exchange: Exchange) -> String? {
        guard exchange.proof != nil else { return nil }
        return state.withLock { $0.settings.isSupported && $0.settings.demandsNonce ? $0.nonce : nil }
    }

    /// The thumbprint of the key that a request has a proof of; nil where it has no proof.
    ///
    /// - Throws: `ProtocolError` for a proof that is not in order.
    func thumbprint(_ exchange: Exchange, baseURL: String, accessToken: String? = nil) throws -> String? {
        guard settings.isSupported, let text = exchange.proof else { return nil }
        let proof = try DPoPProof(text)
        let scheme = baseURL.prefix { $0 != ":" }
        let path = (exchange.head.path ?? "").prefix { $0 != "?" }
        guard proof.claims["htm"]?.text == exchange.method.rawValue,
            proof.claims["htu"]?.text == "\(scheme)://\(exchange.head.authority ?? "")\(path)"
        else { throw ProtocolError.badProof("is for another request") }
        let hash = accessToken.map { SHA256.hash(data: Array($0.utf8)).base64URL }
        guard proof.claims["ath"]?.text == hash else { throw ProtocolError.badProof("is for another token") }
        try check(proof)
        return proof.thumbprint
    }

    private func check(_ proof: DPoPProof) throws {
        guard let id = proof.claims["jti"]?.text, let issued = proof.claims["iat"]?.seconds else {
            throw ProtocolError.badProof("lacks jti or iat")
        }
        let now = clock.now
        try state.withLock { state in
            if state.settings.demandsNonce, proof.claims["nonce"]?.text != state.nonce {
                throw ProtocolError.nonceDemanded
            }
            guard abs(Date(unixSeconds: issued).timeIntervalSince(now)) <= Self.tolerance else {
                throw ProtocolError.badProof("is too old or from the future")
            }
            state.seen = state.seen.filter { $0.value + 3 * Self.tolerance > now }
            guard state.seen.updateValue(now, forKey: id) == nil else {
                throw ProtocolError.badProof("was used before")
            }
        }
    }
}

/// The JWT of a `DPoP` header, whose signature is good (RFC 9449 section 4.2).
private struct DPoPProof {
    let claims: JSONValue
    let thumbprint: String

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let decoded = parts.compactMap { Base64URL.decode($0.utf8) }
        guard parts.count == 3, decoded.count == 3,
            // Whatever does not parse or is not on the curve, the proof is refused.
            let header = try? JSONValue(parsing: decoded[0]), let claims = try? JSONValue(parsing: decoded[1]),
            header["typ"]?.text == "dpop+jwt", header["alg"]?.text == "ES256", let key = header["jwk"],
            key["kty"]?.text == "EC", key["crv"]?.text == "P-256", key["d"] == nil,
            let x = key["x"]?.text, let y = key["y"]?.text,
            let point = Self.point(x, y),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: decoded[2]),
            point.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { throw ProtocolError.badProof("is not a JWT signed with ES256") }
        self.claims = claims
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        thumbprint = SHA256.hash(data: Array(members.utf8)).base64URL
    }

    private static func point(_ x: String, _ y: String) -> P256.Signing.PublicKey? {
        guard let x = Base64URL.decode(x.utf8), let y = Base64URL.decode(y.utf8) else { return nil }
        return try? P256.Signing.PublicKey(rawRepresentation: x + y)  // a point that is not on the curve
    }
}
