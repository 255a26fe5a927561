import OAuth

extension StoreSession {
    /// Deletes what is kept aside of accounts: entries that name one of them, and their parts of the account metadata.
    ///
    /// With a client only its entries go, and the accounts stay for others.
    func deleteForeignEntries(of accounts: [Account.ID], client: String? = nil) throws {
        let forgotten = Dictionary(grouping: accounts) { $0.homeAccountID.folded }
        var deleted: [Int64] = []
        var changed: [ForeignEntry] = []
        for (row, entry) in try foreignEntries(of: forgotten.keys) {
            guard entry.bucket != Self.accountMetadataBucket else {
                // It holds no token, and of an account that stays it says who is signed out.
                guard client == nil else { continue }
                let rest = entry.value.removingAccountMetadata { name in
                    forgotten[name.folded]?.contains { $0.named(name) == $0 } ?? false
                }
                guard let rest else {
                    deleted.append(row)
                    continue
                }
                if rest != entry.value { changed.append(entry.replacing(value: rest)) }
                continue
            }
            guard client != nil || entry.key != nil || entry.rejection == nil else {
                // A bucket of the wrong type, with who knows whose tokens in it.
                let text = entry.value.serialized.folded
                if forgotten.keys.contains(where: text.contains) { deleted.append(row) }
                return
            }
            let named = entry.homeAccountIDs.flatMap { forgotten[$0] ?? [] }
            if named.contains(where: entry.mayBelong), entry.isOf(client) { deleted.append(row) }
        }
        for row in deleted { try deleteForeignEntry(row) }
        for entry in changed { _ = try saveForeignEntry(entry) }
    }
}

extension ForeignEntry {
    fileprivate func replacing(value: JSON) -> ForeignEntry {
        ForeignEntry(place, value: value, rejection: rejection)
    }

    /// The account that the entry names, folded; where it names none, those that its key may begin with.
    fileprivate var homeAccountIDs: [String] {
        let text = accountText
        if let id = value.object?["home_account_id"]?.text, !id.isEmpty { return [text] }
        return text.indices.filter { text[$0] == "-" }.map { String(text[..<$0]) }
    }

    /// Whether the entry is of the account's hosts, or names no host; and of its very subject, where that matters.
    fileprivate func mayBelong(to account: Account.ID) -> Bool {
        let named = value.object?["home_account_id"]?.text ?? account.homeAccountID
        guard account.named(named) == account else { return false }
        guard let environment = value.object?["environment"]?.text, !environment.isEmpty else { return true }
        guard let issuer = try? Authority(issuer: account.authority) else {
            return Cloud.group(of: environment) == account.authority
        }
        return issuer.environment == environment.folded
    }

    fileprivate func isOf(_ client: String?) -> Bool {
        client == nil || value.object?["client_id"]?.text?.folded == client?.folded
    }
}
