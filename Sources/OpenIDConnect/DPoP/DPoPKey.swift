import Crypto
package import HTTPTransport
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A P-256 key that tokens are bound to, so that they are of no use to who has the tokens alone
/// ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
package struct DPoPKey: Sendable {
    /// What is stored of it.
    package let stored: BoundKey

    private let key: P256.Signing.PrivateKey

    /// Makes a new key.
    package init() {
        key = P256.Signing.PrivateKey()
        let number = key.rawRepresentation.withUnsafeBytes { Secret(copying: $0) }
        stored = BoundKey(thumbprint: Self.thumbprint(of: key.publicKey), secret: number)
    }

    /// - Throws: ``DPoPError/badKey`` if it is not the key of its thumbprint.
    package init(_ stored: BoundKey) throws(DPoPError) {
        guard let key = stored.secret.withUnsafeBytes({ try? P256.Signing.PrivateKey(rawRepresentation: $0) }),
            Self.thumbprint(of: key.publicKey) == stored.thumbprint
        else { throw .badKey }
        self.key = key
        self.stored = stored
    }

    package var thumbprint: String { stored.thumbprint }

    /// A proof for one request (RFC 9449 §4.2); `accessToken` is the token that goes with it, `now` is in Unix seconds.
    ///
    /// - Throws: ``DPoPError/badAddress(_:)``.
    package func proof(
        of request: HTTPRequest,
        accessToken: Secret? = nil,
        nonce: String? = nil,
        at now: Int64
    ) throws -> String {
        guard let target = Self.target(request.url) else { throw DPoPError.badAddress(request.description) }
        var claims = JSONValue.Object()
        claims["jti"] = .string(SymmetricKey(size: .bits128).withUnsafeBytes { Base64URL.encode($0) })
        claims["htm"] = .string(request.method)
        claims["htu"] = .string(target)
        claims["iat"] = .number("\(now)")
        claims["ath"] = accessToken.map { .string($0.withUnsafeBytes { Base64URL.encode(SHA256.hash(data: $0)) }) }
        claims["nonce"] = nonce.map { .string($0) }
        let header = JSONValue.Object([
            ("typ", "dpop+jwt"), ("alg", "ES256"), ("jwk", .object(Self.members(of: key.publicKey))),
        ])
        let signed = [header, claims].map { Base64URL.encode(JSONValue.object($0).serialized.utf8) }.joined(
            separator: "."
        )
        let signature = try key.signature(for: Array(signed.utf8))
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The address without query and fragment, written as RFC 3986 §6.2 does; nil for one that nothing is sent to.
    private static func target(_ url: String) -> String? {
        guard let address = WebAddress(url) else { return nil }
        let path = address.rest.prefix { $0 != "?" && $0 != "#" }
        return address.origin + (path.isEmpty ? "/" : path)
    }

    /// RFC 7638 §3.1: the members in the order of their names.
    private static func thumbprint(of key: P256.Signing.PublicKey) -> String {
        Base64URL.encode(SHA256.hash(data: Array(JSONValue.object(members(of: key)).serialized.utf8)))
    }

    private static func members(of key: P256.Signing.PublicKey) -> JSONValue.Object {
        let point = key.rawRepresentation
        return JSONValue.Object([
            ("crv", "P-256"), ("kty", "EC"), ("x", .string(Base64URL.encode(point.prefix(32)))),
            ("y", .string(Base64URL.encode(point.suffix(32)))),
        ])
    }
}

/// Whether sign-ins bind their tokens to a key of this machine ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
public enum DPoPPolicy: String, Sendable, CaseIterable {
    /// They do not; a session that is bound already stays so.
    case off

    /// They do where the issuer says that it supports that, and take what it answers.
    case whenSupported

    /// They do or fail, and no token that is not bound is handed out.
    case required

    /// The new key for a sign-in at an issuer; nil where its tokens are bound to none.
    ///
    /// - Throws: ``DPoPError/unsupported(_:)``.
    package func newKey(at issuer: IssuerMetadata) throws(DPoPError) -> DPoPKey? {
        guard self != .off else { return nil }
        guard issuer.supportsDPoP else {
            guard self != .required else { throw .unsupported(issuer.issuer) }
            return nil
        }
        return DPoPKey()
    }

    /// Requires that the access token of an answer is one that this policy takes.
    ///
    /// - Throws: ``DPoPError``.
    package func check(_ response: TokenResponse, boundTo key: BoundKey?) throws(DPoPError) {
        guard response.accessToken != nil else { return }
        let isBound = AccessToken.isDPoP(response.tokenType)
        if isBound, key == nil { throw .unaskedBinding }
        if !isBound, self == .required { throw .downgrade }
    }
}

/// Why tokens that are bound to a key cannot be had or used.
public enum DPoPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The issuer does not say that it supports DPoP with ES256.
    case unsupported(String)

    /// The issuer answered with a token that is not bound, where one that is was required.
    case downgrade

    /// The issuer answered with a token that is bound, where no key was shown.
    case unaskedBinding

    /// The session is not bound to a key, or that key is gone: someone has to sign in.
    case noKey

    /// The issuer does not take the proofs of the key.
    case refusedProof(OAuthError)

    /// The stored key is damaged.
    case badKey

    /// A proof cannot be made for this request.
    case badAddress(String)

    public var description: String {
        switch self {
        case .unsupported(let issuer): "\(issuer) does not support DPoP; sign in without it"
        case .downgrade: "the issuer sent a token that is not bound to the key; ask its operator about DPoP"
        case .unaskedBinding: "the issuer sent a token that is bound to a key which it was not shown; sign in with DPoP"
        case .noKey: "the session is not bound to a key of this store; sign in again with DPoP"
        case .refusedProof(let error): "\(error); check the clock of this machine, then try again"
        case .badKey: "the stored DPoP key is damaged; sign in again"
        case .badAddress(let request): "no DPoP proof can be made for \(request); correct the address"
        }
    }
}
