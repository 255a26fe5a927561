/// The order in which accounts are listed.
public enum AccountOrder: String, Sendable, CaseIterable {
    case username
    /// The one whose next access token ends first comes first; those without a valid one last.
    case expires
    /// The one used last comes first.
    case used

    func sql(now: Int64) -> String {
        switch self {
        case .username: "a.username_fold, a.home_account_fold, a.authority"
        case .used: "a.last_used_at DESC, a.id DESC"
        case .expires:
            """
            (SELECT min(t.expires_on) FROM access_token t WHERE t.account_id = a.id AND t.expires_on > \(now))
                NULLS LAST, a.username_fold, a.id
            """
        }
    }
}
