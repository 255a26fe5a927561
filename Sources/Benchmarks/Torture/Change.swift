import OAuth
import TokenStorage

/// The kinds of changes that a store makes, for trying each of them under adverse conditions.
enum Change: CaseIterable {
    case create
    case signIn
    case signInAgain
    case refresh
    case importDocument
    case removeAccount
    case purge
    case purgeEverything
    case rekey

    /// Makes the change to a store with accounts 0 to 4.
    func make(at path: StorePath, in store: TokenStore?) throws {
        let store = try store ?? TokenStore.open(at: path)
        var known = SampleAccount(1)
        known.generation = 9
        switch self {
        case .create: break
        case .signIn: try store.save(SampleAccount(7).response, for: SampleAccount.request())
        case .signInAgain: try store.save(known.response, for: SampleAccount.request())
        case .refresh:
            let tokens = try store.refreshTokens(of: known.id, client: SampleAccount.client)
            guard let used = tokens.first else { throw BenchFailure("an account has no refresh token") }
            try store.save(known.response, for: SampleAccount.request(grant: .refreshToken), refreshing: used)
        case .importDocument:
            let document = MSALDocument(accounts: 10..<40, accessTokens: 2).bytes
            _ = try document.withUnsafeBytes { try store.importMSALCache($0) }
        case .removeAccount: try store.removeAccount(known.id, client: SampleAccount.client)
        case .purge: _ = try store.purge(.username(known.username))
        case .purgeEverything: _ = try TokenStore.purgeAll(at: path)
        case .rekey: _ = try store.rekey()
        }
    }
}
