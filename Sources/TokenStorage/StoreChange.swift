public import OAuth

/// Something that a commit of this or another process changed.
public enum StoreChange: Hashable, Sendable {
    case signedIn(Account.ID)
    case tokensReplaced(Account.ID)
    case signedOut(Account.ID)

    /// Several accounts, or nobody can tell which: look at the store again.
    case many

    init(_ event: StoreEvent, about account: Account.ID?) {
        self =
            switch (event.kind, account) {
            case (.signIn, let account?): .signedIn(account)
            case (.refresh, let account?), (.refused, let account?): .tokensReplaced(account)
            case (.signOut, let account?): .signedOut(account)
            default: .many
            }
    }
}
