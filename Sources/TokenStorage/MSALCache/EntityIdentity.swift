import OAuth

/// What two entries have alike whose keys differ only in case, and that are one: at other issuers than Microsoft's two
/// subjects may.
struct EntityIdentity: Equatable {
    private let account: Account.ID
    private let fields: [ExactText]
    private let type: String
    private let variant: TokenVariant?

    init(_ entity: JSONValue.Object, _ bucket: MSALBucket) {
        func text(_ field: String) -> String { entity[field]?.text ?? "" }
        account = Account.ID(issuer: Cloud.group(of: text("environment")), homeAccountID: text("home_account_id"))
        var names = ["environment", "client_id", "realm", "target"]
        // What an access token is bound to or was minted for is part of it, as is the family of a refresh token.
        switch bucket {
        case .accessToken, .boundAccessToken:
            names += ["key_id", "keyid", "kid"]
            type = AccessTokenRow.fold(tokenType: entity["token_type"]?.text ?? "Bearer")
            variant = TokenVariant(of: entity)
        case .refreshToken:
            names.append("family_id")
            (type, variant) = ("", TokenVariant(of: entity))
        case .idToken, .account, .appMetadata: (type, variant) = ("", nil)
        }
        fields = names.map { ExactText(text($0).folded) }
    }
}
