import OAuth

/// The row of an access token.
struct StoredAccessToken: Equatable {
    var clientID: String
    var environment: String
    var realm: String
    var realmFold: String

    /// Scope tokens as granted, in the order of the document they came from.
    var target: String

    /// The scope asked for, where another was granted.
    var asked: Scope?
    var credentialType = "AccessToken"
    var tokenType: String?
    var keyID = ""

    /// Keeps apart tokens that are equal but for requested claims or another partition; empty for ordinary ones.
    var variant = ""
    var cachedAt: Int64?
    var expiresOn: Int64
    var extendedExpiresOn: Int64?
    var refreshOn: Int64?
    var extra = JSON.Object()
    var secret: Secret

    var scope: Scope { Scope(target) }
    var scopeFold: String { scope.foldedText }
    var tokenTypeFold: String { Self.fold(tokenType: tokenType) }

    static func fold(tokenType: String?) -> String {
        guard let folded = tokenType?.folded, !folded.isEmpty else { return "bearer" }
        return folded
    }
}
