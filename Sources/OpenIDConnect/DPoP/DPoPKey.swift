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

    /// - Throws: ``DPoPError/Code/badKey`` if it is not the key of its thumbprint.
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
    /// - Throws: ``DPoPError/Code/badAddress``.
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
    /// They do not; a session whose access tokens are bound already stays so, and no other is handed out of it.
    case off

    /// They do where the issuer says that it supports that, and take what it answers.
    case whenSupported

    /// They do or fail, and no token that is not bound is handed out.
    case required

    /// The new key for a sign-in at an issuer; nil where its tokens are bound to none.
    ///
    /// - Throws: ``DPoPError/Code/unsupported``.
    package func newKey(at issuer: IssuerMetadata) throws(DPoPError) -> DPoPKey? {
        guard self != .off else { return nil }
        guard issuer.supportsDPoP else {
            guard self != .required else { throw .unsupported(issuer.issuer) }
            return nil
        }
        return DPoPKey()
    }

    /// Requires that the access token of an answer is one that this policy takes, of a session where access tokens may
    /// have been bound before.
    ///
    /// - Throws: ``DPoPError``.
    package func check(
        _ response: TokenResponse,
        boundTo key: BoundKey?,
        wasBound: Bool = false
    ) throws(DPoPError) {
        guard response.accessToken != nil else { return }
        let isBound = AccessToken.isDPoP(response.tokenType)
        if isBound, key == nil { throw .unaskedBinding }
        if !isBound, self == .required || self == .off && wasBound { throw .downgrade }
    }
}

/// Why tokens that are bound to a key cannot be had or used.
public struct DPoPError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The issuer does not say that it supports DPoP with ES256.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The issuer answered with a token that is not bound, where one that is was required.
        public static let downgrade = Code(rawValue: "downgrade")
        /// The issuer answered with a token that is bound, where no key was shown.
        public static let unaskedBinding = Code(rawValue: "unasked_binding")
        /// The session has no key, or it is gone, or a sign-in is to have one: the user has to sign in.
        public static let noKey = Code(rawValue: "no_key")
        /// The issuer does not take the proofs of the key; ``DPoPError/refusal`` says why.
        public static let refusedProof = Code(rawValue: "refused_proof")
        /// The stored key is damaged.
        public static let badKey = Code(rawValue: "bad_key")
        /// A proof cannot be made for this request.
        public static let badAddress = Code(rawValue: "bad_address")

        /// Those of this version; a later one may have more.
        public static let known = [
            unsupported, downgrade, unaskedBinding, noKey, refusedProof, badKey, badAddress,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OpenIDConnect.DPoPError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// What the issuer answered to a proof.
    public private(set) var refusal: OAuthError?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension DPoPError {
    package static func unsupported(_ issuer: String) -> DPoPError {
        DPoPError(.unsupported, "\(issuer) does not support DPoP", .signIn("sign in without it"))
    }

    package static let downgrade = DPoPError(
        .downgrade,
        "the issuer sent a token that is not bound to the key",
        Remedy(.askOperator, "ask its operator about DPoP")
    )

    package static let unaskedBinding = DPoPError(
        .unaskedBinding,
        "the issuer sent a token that is bound to a key which it was not shown",
        .signIn("sign in with DPoP")
    )

    package static let noKey = DPoPError(
        .noKey,
        "the session is not bound to a key of this store",
        .signIn("sign in again with DPoP")
    )

    /// The issuer wants a proof, and the sign-in has no key.
    package static func unproven(_ refusal: OAuthError) -> DPoPError {
        var error = DPoPError(.noKey, refusal.problem, .signIn("sign in with DPoP"))
        error.refusal = refusal
        return error
    }

    package static func refusedProof(_ refusal: OAuthError) -> DPoPError {
        var error = DPoPError(
            .refusedProof,
            refusal.problem,
            // A nonce was sent, and has nothing to do with the time.
            refusal.code == .useDPoPNonce
                ? Remedy(.askOperator, "ask the operator of the issuer why it takes no DPoP nonce")
                : Remedy(.correctClock, "check the clock of this machine, then try again")
        )
        error.refusal = refusal
        return error
    }

    package static let badKey = DPoPError(.badKey, "the stored DPoP key is damaged", .signInAgain)

    package static func badAddress(_ request: String) -> DPoPError {
        DPoPError(.badAddress, "no DPoP proof can be made for \(request)", .correct("correct the address"))
    }
}
