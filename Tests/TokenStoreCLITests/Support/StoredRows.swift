import TokenStorage

/// What is in a store.
struct StoredRows: Equatable {
    static let all = StoredRows(accounts: 1, refreshTokens: 1, accessTokens: 1, idTokens: 1)
    static let none = StoredRows(accounts: 0, refreshTokens: 0, accessTokens: 0, idTokens: 0)
    static let withoutRefreshToken = StoredRows(accounts: 1, refreshTokens: 0, accessTokens: 1, idTokens: 1)

    var accounts: Int
    var refreshTokens: Int
    var accessTokens: Int
    var idTokens: Int
}

extension IssuerScene {
    var rows: StoredRows {
        get throws {
            let status = try TokenStore.open(at: StorePath(scratch.store)).status()
            return .init(
                accounts: status.accounts,
                refreshTokens: status.refreshTokens,
                accessTokens: status.accessTokens,
                idTokens: status.idTokens
            )
        }
    }
}

extension [String: Int] {
    /// The `deleted` object of a purge that found nothing.
    static var nothing: Self { deleted() }

    /// The `deleted` object of a purge.
    static func deleted(accounts: Int = 0, accessTokens: Int = 0, refreshTokens: Int = 0, idTokens: Int = 0) -> Self {
        ["accounts": accounts, "accessTokens": accessTokens, "refreshTokens": refreshTokens, "idTokens": idTokens]
    }
}
