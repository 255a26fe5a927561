import OAuth
import TokenManagement

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whose a token is, and the client that has it.
typealias TokenOwner = (account: Account, client: String)

/// A token as it is handed on: to a person, a file or another program.
struct HandedToken {
    let secret: Secret

    /// The scheme of an `Authorization` header.
    let scheme: String
    let expiresAt: Date
    let owner: TokenOwner
    let source: TokenResult.Source

    /// When a newer one is worth having although this one is valid.
    let refreshAt: Date?

    /// Scopes of an access token; nil for an ID token.
    let scopes: [String]?

    /// What was asked for and not granted.
    let declinedScopes: [String]

    var account: Account { owner.account }

    var isIDToken: Bool { scopes == nil }

    /// Whether it is as good as one can be had now.
    var isFresh = true

    /// Whether a web API takes it only with a proof of the key that it is bound to.
    var isBound = false

    var end: Timestamp { Timestamp(expiresAt) }

    /// - Throws: ``CommandFailure`` if the token cannot be shown.
    init(_ result: TokenResult, of owner: TokenOwner) throws {
        let token = result.accessToken
        guard token.isPrintable else { throw Self.unprintable("access") }
        secret = token.secret
        scheme = token.authorizationScheme
        expiresAt = token.expiresAt
        refreshAt = token.refreshAt
        scopes = token.scope.tokens
        declinedScopes = result.declinedScope.tokens
        isFresh = result.freshness == .fresh
        isBound = token.isDPoP
        self.owner = owner
        source = result.source
    }

    /// - Throws: ``CommandFailure`` if the token cannot be shown.
    init(_ idToken: IDToken, ending end: Date, of owner: TokenOwner, _ source: TokenResult.Source) throws {
        guard idToken.secret.isShowable else { throw Self.unprintable("ID") }
        secret = idToken.secret
        scheme = "Bearer"
        expiresAt = end
        refreshAt = nil
        scopes = nil
        declinedScopes = []
        self.owner = owner
        self.source = source
    }

    private static func unprintable(_ kind: String) -> CommandFailure {
        CommandFailure(
            .failure,
            "the \(kind) token contains control characters, and was not printed",
            "ask the issuer for another one with --force-refresh"
        )
    }

    /// Refuses a token that is bound to a key, which would be sent as it is.
    func requireUnbound() throws {
        guard isBound else { return }
        throw CommandFailure(
            .failure,
            "the access token is bound to a key, and a web API takes it only with a DPoP proof of that key",
            "call the API with a program that uses the library, or sign in again without --dpop"
        )
    }
}
