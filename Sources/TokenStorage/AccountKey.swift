import OAuth

extension Account.ID {
    /// What stands between the parts of a ``key``.
    static let separator = "\u{1F}"

    /// Whether the id is the subject of an issuer that is not Microsoft.
    var isSubject: Bool { authority.contains("://") }

    /// What two ids of one authority are compared by.
    ///
    /// Microsoft's differ by more than case. Any other issuer's subjects need not (OpenID Connect Core §2), so that the
    /// exact one stands behind the folded one, by which one that a person types is found.
    var key: String {
        let folded = homeAccountID.folded
        guard folded != homeAccountID, isSubject else { return folded }
        return folded + Self.separator + homeAccountID
    }

    /// The keys that an id may have whose authority is not known.
    static func keys(of homeAccountID: String) -> [String] {
        [homeAccountID.folded, homeAccountID.folded + separator + homeAccountID]
    }
}
