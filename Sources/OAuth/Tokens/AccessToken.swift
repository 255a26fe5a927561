#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An access token with what it was issued for ([RFC 6749 §1.4](https://www.rfc-editor.org/rfc/rfc6749#section-1.4)).
public struct AccessToken: Equatable, Sendable {
    /// The token itself.
    public let secret: Secret

    /// The client that it was issued to.
    public let clientID: String

    /// The scope as granted; most readers of a token never ask for it, so that it is taken apart only then.
    package let target: String

    /// `Bearer` unless the issuer said otherwise.
    public let tokenType: String

    /// The key a proof-of-possession token is bound to.
    public let keyID: String?

    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// When it was stored; nil if an import did not say.
    public let cachedAt: Date?

    /// When it ends by the issuer's word.
    public private(set) var expiresAt: Date

    /// How long the token may be used while the issuer cannot be reached.
    public private(set) var extendedExpiresAt: Date?

    /// When it is worth refreshing although still valid.
    public let refreshAt: Date?

    /// What the issuer did not grant of the scope that it was asked for; nil: the token is one for all of it.
    package var declinedScope: Scope?

    /// What it was granted for.
    public var scope: Scope { Scope(target) }

    /// The scheme of an `Authorization` header: issuers write `bearer` as they like, and some APIs read it as RFC 6750
    /// has it only.
    public var authorizationScheme: String {
        if isDPoP { return "DPoP" }
        return tokenType.lowercased() == "bearer" ? "Bearer" : tokenType
    }

    /// Whether an API takes it only together with a proof of the key that it is bound to
    /// ([RFC 9449](https://www.rfc-editor.org/rfc/rfc9449)).
    public var isDPoP: Bool { Self.isDPoP(tokenType) }

    /// Whether a `token_type` is that of a token which is bound to a DPoP key.
    package static func isDPoP(_ tokenType: String?) -> Bool {
        tokenType?.lowercased().hasSameBytes(as: "dpop") ?? false
    }

    /// Whether the token and its type can be part of a header and be printed; only then they are used or shown.
    package var isPrintable: Bool { Self.isPrintable(secret, type: tokenType) }

    /// The same of a token that is not made yet.
    package static func isPrintable(_ secret: Secret, type: String) -> Bool { secret.isShowable && isType(type) }

    /// Whether `text` is fit to be a `token_type`: printable ASCII without a space
    /// ([RFC 6749 §A.13](https://www.rfc-editor.org/rfc/rfc6749#appendix-A.13)).
    package static func isType(_ text: String) -> Bool {
        // Nearly all are that, and one look at the whole word is enough.
        text == "Bearer" || !text.isEmpty && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
    }

    /// The token as it is to be used where its session ends at `end`.
    package func ending(by end: Date) -> AccessToken {
        var token = self
        token.expiresAt = min(expiresAt, end)
        token.extendedExpiresAt = extendedExpiresAt.map { min($0, end) }
        return token
    }

    package init(
        secret: Secret,
        clientID: String,
        target: String,
        tokenType: String,
        keyID: String?,
        tenantID: String,
        cachedAt: Date?,
        expiresAt: Date,
        extendedExpiresAt: Date?,
        refreshAt: Date?
    ) {
        self.secret = secret
        self.clientID = clientID
        self.target = target
        self.tokenType = tokenType
        self.keyID = keyID
        self.tenantID = tenantID
        self.cachedAt = cachedAt
        self.expiresAt = expiresAt
        self.extendedExpiresAt = extendedExpiresAt
        self.refreshAt = refreshAt
    }
}
