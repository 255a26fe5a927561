extension [String: Int] {
    /// The `deleted` object of a purge that found nothing.
    static var nothing: Self { deleted() }

    /// The `deleted` object of a purge.
    static func deleted(accounts: Int = 0, accessTokens: Int = 0, refreshTokens: Int = 0, idTokens: Int = 0) -> Self {
        ["accounts": accounts, "accessTokens": accessTokens, "refreshTokens": refreshTokens, "idTokens": idTokens]
    }
}
