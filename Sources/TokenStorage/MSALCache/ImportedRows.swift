import OAuth
import SQLite
import Sealing

extension StoreConnection {
    /// The row of the account, made if there is none; where there is one, gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        guard let row = try accountRow(identity.id) else { return try insertAccount(identity, account) }
        try changeAccount(row) { known in
            if known.username.isEmpty { known.username = account.username }
            known.policy = known.policy ?? account.policy
            known.issuer = known.issuer ?? account.issuer
        }
        return row
    }

    /// Gives an account the names of an imported row; empty ones change nothing.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func nameAccount(_ row: Int64, username: String, name: String?, isHome: Bool) throws {
        try changeAccount(row) { known in
            if !username.isEmpty, isHome || known.username.isEmpty { known.username = username }
            known.name = isHome ? name ?? known.name : known.name ?? name
        }
    }
}

