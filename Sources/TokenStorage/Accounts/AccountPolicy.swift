public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which account is meant: criteria that all hold, with fall-backs for when none fits.
///
/// An empty name or id, as of a variable that is not set, is no account's.
///
/// ```swift
/// let policy = AccountPolicy.userFlow("B2C_1_SUSI").and(.claim("department", equals: "finance"))
///     .otherwise(.mostRecentlyUsed)
/// ```
public struct AccountPolicy: Hashable, Sendable {
    /// Tried in order; a later one counts only where the ones before match nothing.
    let alternatives: [Alternative]

    /// Criteria that an account meets all of.
    struct Alternative: Hashable, Sendable {
        var criteria: [AccountCriterion] = []
        var prefersMostRecent = false
        var prefersDefault = false
    }

    private init(_ criteria: AccountCriterion...) { alternatives = [Alternative(criteria: criteria)] }
    init(alternatives: [Alternative]) { self.alternatives = alternatives }

    /// Every account; where one is asked for, the one there is.
    public static let all = AccountPolicy(alternatives: [Alternative()])

    /// Of the accounts that fit, the one last signed in, refreshed or imported.
    public static let mostRecentlyUsed = AccountPolicy(alternatives: [Alternative(prefersMostRecent: true)])

    /// Of the accounts that fit, the default account (`TokenStore.setDefaultAccount(_:)`) if it is one of them, else
    /// all.
    public static let defaultAccount = AccountPolicy(alternatives: [Alternative(prefersDefault: true)])

    /// What a person typed: a home account id, a username or a local account id, else a prefix (of at least four
    /// characters) of the first.
    public static func identifier(_ text: String) -> AccountPolicy {
        let whole = exact(text, .identifier(text.folded))
        guard text.folded.count >= 4 else { return whole }
        return whole.otherwise(AccountPolicy(.unlessExactly(text, .identifierPrefix(text.folded))))
    }

    /// Accounts of this user name, in any letter case.
    public static func username(_ username: String) -> AccountPolicy { AccountPolicy(.username(username.folded)) }

    /// The account of this id; where subjects differ in case alone, the one that is spelled so, else all of them.
    ///
    /// An issuer's account that is spelled so, but is not what else is asked for, gives no other one: that is another
    /// person's.
    public static func homeAccountID(_ id: String) -> AccountPolicy {
        exact(id, .homeAccountID(id.folded))
    }

    private static func exact(_ id: String, _ criterion: AccountCriterion) -> AccountPolicy {
        AccountPolicy(.exactly(id, criterion)).otherwise(AccountPolicy(.unlessExactly(id, criterion)))
    }

    /// The account with this id in any of its tenants.
    public static func localAccountID(_ id: String) -> AccountPolicy { AccountPolicy(.localAccountID(id.folded)) }

    /// Accounts that signed in with an Azure AD B2C user flow, such as `B2C_1_SUSI`.
    public static func userFlow(_ name: String) -> AccountPolicy { AccountPolicy(.userFlow(name.folded)) }

    /// Accounts seen in a tenant.
    public static func tenant(_ tenant: String) -> AccountPolicy { AccountPolicy(.tenant(tenant.folded)) }

    /// Accounts of an issuer, by its identifier, in which letter case counts, or by its host.
    public static func issuer(_ issuer: String) -> AccountPolicy { AccountPolicy(.issuer(issuer)) }

    /// Accounts that have a token of a client.
    public static func client(_ id: String) -> AccountPolicy { AccountPolicy(.client(id.folded)) }

    /// Accounts with a claim; dots reach into objects.
    public static func claim(_ name: String) -> AccountPolicy { AccountPolicy(.claim(.present(name))) }

    /// Accounts with a value of a claim, compared without regard to case; a list matches when one element does.
    public static func claim(_ name: String, equals value: JSONValue) -> AccountPolicy {
        AccountPolicy(.claim(.equals(name, value.claimText.folded)))
    }

    /// Accounts with a claim whose text contains `text`; this opens the ID tokens that the other criteria leave.
    public static func claim(_ name: String, contains text: String) -> AccountPolicy {
        AccountPolicy(.claim(.contains(name, text.folded)))
    }

    /// Accounts that a program noted something of under this name (`TokenStore.setTags(_:of:)`).
    public static func tag(_ name: String) -> AccountPolicy {
        AccountPolicy(.tag(TagCriterion(name: name, value: nil)))
    }

    /// Accounts with a tag of this value, compared without regard to case.
    public static func tag(_ name: String, equals value: String) -> AccountPolicy {
        AccountPolicy(.tag(TagCriterion(name: name, value: value.folded)))
    }

    /// Accounts not signed in, refreshed or imported since a moment.
    public static func unused(since date: Date) -> AccountPolicy { AccountPolicy(.unusedSince(date.unixSeconds)) }

    /// Accounts that have access tokens, all of which have ended.
    public static let expired = AccountPolicy(.expired)

    /// Whether it asks nothing of an account.
    var isUnconditional: Bool { alternatives.allSatisfy { $0.criteria.isEmpty && !$0.prefersMostRecent } }

    /// The issuer that is asked for, by its address or its host; nil where none is, or several are.
    package var askedIssuer: String? {
        let asked = alternatives.flatMap(\.criteria).compactMap { criterion in
            if case .issuer(let issuer) = criterion { issuer } else { nil }
        }
        return Set(asked).count == 1 ? asked.first : nil
    }

    /// Whether it may leave many accounts: it names none, and does not choose one.
    var mayLeaveMany: Bool {
        alternatives.contains { alternative in
            !alternative.prefersMostRecent && !alternative.prefersDefault
                && !alternative.criteria.contains(where: \.namesAccount)
        }
    }

    /// Accounts that meet both policies.
    public func and(_ other: AccountPolicy) -> AccountPolicy {
        AccountPolicy(
            alternatives: alternatives.flatMap { left in
                other.alternatives.map { right in
                    Alternative(
                        criteria: left.criteria + right.criteria,
                        prefersMostRecent: left.prefersMostRecent || right.prefersMostRecent,
                        prefersDefault: left.prefersDefault || right.prefersDefault
                    )
                }
            }
        )
    }

    /// This policy, and where it matches no account, `other`; an ambiguity is not a reason to go on.
    public func otherwise(_ other: AccountPolicy) -> AccountPolicy {
        AccountPolicy(alternatives: alternatives + other.alternatives)
    }
}

/// The order in which accounts are listed.
public enum AccountOrder: String, Sendable, CaseIterable {
    case username
    /// The one whose next access token ends first comes first; those without a valid one last.
    case expires
    /// The one used last comes first.
    case used
}

/// One thing that an account must be; texts are folded, but those of an issuer, of `exactly` and of `unlessExactly`.
indirect enum AccountCriterion: Hashable, Sendable {
    case identifier(String)

    /// A home account id letter by letter, tried before a criterion that any spelling meets; where that names accounts
    /// in other ways too, those as well.
    case exactly(String, AccountCriterion)

    /// What a criterion meets at issuers that have no account of this home account id letter by letter.
    case unlessExactly(String, AccountCriterion)
    case identifierPrefix(String)
    case username(String)
    case homeAccountID(String)
    case localAccountID(String)
    case userFlow(String)
    case tenant(String)
    case issuer(String)
    case client(String)
    case claim(ClaimCriterion)
    case tag(TagCriterion)
    case unusedSince(Int64)
    case expired

    /// Whether it is about an account by its name or id.
    var namesAccount: Bool {
        switch self {
        case .identifier, .exactly, .unlessExactly, .identifierPrefix, .username, .homeAccountID, .localAccountID: true
        case .userFlow, .tenant, .issuer, .client, .claim, .tag, .unusedSince, .expired: false
        }
    }

    /// Whether its name or id is empty: a row that has none in that place is not what was meant.
    var isNameless: Bool {
        switch self {
        case .identifier(let name), .username(let name), .homeAccountID(let name), .localAccountID(let name),
            .userFlow(let name), .tenant(let name), .issuer(let name), .client(let name), .exactly(let name, _):
            name.folded.isEmpty
        case .unlessExactly, .identifierPrefix, .claim, .tag, .unusedSince, .expired: false
        }
    }
}

/// What a claim must be; values are folded.
enum ClaimCriterion: Hashable, Sendable {
    case present(String)
    case equals(String, String)
    case contains(String, String)

    var name: String {
        switch self {
        case .present(let name), .equals(let name, _), .contains(let name, _): name
        }
    }

    /// Whether the blind index answers this; else ID tokens have to be opened.
    var isIndexed: Bool {
        if case .contains = self { return false }
        return !ClaimIndex.isUnindexed(name)
    }

    func matches(_ claims: Claims) -> Bool {
        let values = claims.values(at: name)
        return switch self {
        case .present: !values.isEmpty
        case .equals(_, let wanted): values.contains { $0.indexedText.folded == wanted }
        case .contains(_, let part): values.contains { $0.claimText.folded.contains(part) }
        }
    }
}
