import Database
import OAuth
import SQL
import Sealing

/// SQL that finds the accounts of one alternative of a policy, as far as the clear columns and the blind index tell.
struct AccountQuery {
    private(set) var condition: String
    private(set) var values: [Value] = []

    /// Criteria that only opened ID tokens can answer.
    let opened: [ClaimCriterion]

    /// Criteria that the index has answered.
    let indexed: [ClaimCriterion]

    /// The same for tags.
    let tags: [TagCriterion]

    /// The same for what is in the rows of accounts and tenants as well.
    let inRows: [AccountCriterion]

    /// Whether ID tokens are opened to see which accounts fit.
    var opensTokens: Bool { !opened.isEmpty || !indexed.isEmpty }

    /// Whether the SQL alone tells how many accounts fit: no sealed value has to be opened.
    var isDecisive: Bool { !opensTokens && tags.isEmpty }

    /// A claim may be indexed under any of `sealers`, the live data keys.
    init(_ alternative: AccountPolicy.Alternative, sealers: [Sealer], now: Int64, dialect: Dialect) {
        var query = SQLFragments(dialect: dialect)
        var (opened, indexed, tags) = ([ClaimCriterion](), [ClaimCriterion](), [TagCriterion]())
        for criterion in alternative.criteria {
            if case .claim(let claim) = criterion, !claim.isIndexed {
                opened.append(claim)
            } else {
                if case .claim(let claim) = criterion { indexed.append(claim) }
                if case .tag(let tag) = criterion { tags.append(tag) }
                query.add(criterion, sealers, now: now)
            }
        }
        condition = query.conditions.isEmpty ? "TRUE" : query.conditions.joined(separator: " AND ")
        values = query.values
        (self.opened, self.indexed, self.tags) = (opened, indexed, tags)
        inRows = alternative.criteria.filter(\.isInRows)
    }
}

/// Conditions on a row `a` of `account`, and the values they name.
private struct SQLFragments {
    let dialect: Dialect
    var conditions: [String] = []
    var values: [Value] = []

    /// Binds a value and returns its place in the statement.
    private mutating func bind(_ value: Value) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// Whether the key of an account begins with a folded id, behind which its exact form may stand.
    private mutating func homeAccount(_ column: String, is id: String) -> String {
        let (place, start) = (bind(.text(id)), bind(.text(id + Account.ID.separator)))
        let end = bind(.text(id + Account.ID.separator + "\u{10FFFF}"))
        return "(\(column) = \(place) OR \(column) >= \(start) AND \(column) < \(end))"
    }

    /// Whether a row of `account` has this home account id letter by letter.
    private mutating func accountKey(isExactly id: String) -> String {
        let keys = Account.ID.keys(of: id).map { bind(.text($0)) }
        return "account_key IN (\(keys[0]), \(keys[1])) AND home_account_id = \(bind(.text(id)))"
    }

    mutating func add(_ criterion: AccountCriterion, _ sealers: [Sealer], now: Int64) {
        guard !criterion.isNameless else { return conditions.append("FALSE") }
        switch criterion {
        case .identifier(let text):
            let place = bind(.text(text))
            addFew(
                """
                SELECT id FROM account WHERE \(homeAccount("account_key", is: text))
                    UNION SELECT id FROM account WHERE username_fold = \(place) AND username_fold <> ''
                    UNION SELECT account_id FROM tenant_profile WHERE local_account_fold = \(place)
                """
            )
        case .exactly(let id, let criterion): addExactly(id, criterion)
        case .unlessExactly(let id, let criterion):
            add(criterion, sealers, now: now)
            conditions.append("a.authority NOT IN (SELECT authority FROM account WHERE \(accountKey(isExactly: id)))")
        case .identifierPrefix(let text):
            let start = bind(.text(text))
            // The greatest Unicode scalar sorts after every text that goes on from the prefix.
            let end = bind(.text(text + "\u{10FFFF}"))
            conditions.append("a.account_key >= \(start) AND a.account_key < \(end)")
        case .username(let name): conditions.append("a.username_fold = \(bind(.text(name)))")
        case .homeAccountID(let id): conditions.append(homeAccount("a.account_key", is: id))
        case .localAccountID(let id):
            addFew("SELECT account_id FROM tenant_profile WHERE local_account_fold = \(bind(.text(id)))")
        case .userFlow(let name): conditions.append("a.policy = \(bind(.text(name)))")
        case .tenant(let tenant):
            conditions.append(
                "a.id IN (SELECT account_id FROM tenant_profile WHERE realm_fold = \(bind(.text(tenant))))"
            )
        case .issuer(let issuer): addIssuer(issuer)
        case .client(let client): addClient(client)
        case .unusedSince(let seconds): conditions.append("a.last_used_at < \(bind(.integer(seconds)))")
        case .expired: addExpired(now: now)
        case .claim(let claim): add(claim, sealers)
        case .tag(let tag): add(tag, sealers)
        }
    }

    /// Adds that an account has this home account id letter by letter; or that some account has it, and this one is
    /// called so otherwise, where a person may have meant that.
    private mutating func addExactly(_ id: String, _ criterion: AccountCriterion) {
        let isExact = accountKey(isExactly: id)
        guard case .identifier(let text) = criterion else {
            return addFew("SELECT id FROM account WHERE \(isExact)")
        }
        let (place, isOther) = (bind(.text(text)), "NOT \(homeAccount("n.account_key", is: text))")
        let isKnown = "EXISTS (SELECT 1 FROM account WHERE \(isExact))"
        addFew(
            """
            SELECT id FROM account WHERE \(isExact)
                UNION SELECT n.id FROM account n
                    WHERE n.username_fold = \(place) AND n.username_fold <> '' AND \(isOther) AND \(isKnown)
                UNION SELECT n.id FROM tenant_profile p JOIN account n ON n.id = p.account_id
                    WHERE p.local_account_fold = \(place) AND \(isOther) AND \(isKnown)
            """
        )
    }

    /// Adds that an account is among the few of a selection.
    ///
    /// A server that has no statistics, as behind a restored dump, takes a selection for many, and goes through all
    /// accounts and their tokens; the ids in an array it takes for ten.
    private mutating func addFew(_ ids: String) {
        switch dialect {
        case .sqlite: conditions.append("a.id IN (\(ids))")
        case .postgreSQL: conditions.append("a.id = ANY (ARRAY(\(ids)))")
        }
    }

    private mutating func addExpired(now: Int64) {
        conditions.append(
            """
            EXISTS (SELECT 1 FROM access_token t WHERE t.account_id = a.id)
            AND NOT EXISTS
                (SELECT 1 FROM access_token t WHERE t.account_id = a.id AND t.expires_on > \(bind(.integer(now))))
            """
        )
    }

    private mutating func addIssuer(_ issuer: String) {
        let exact = bind(.text(issuer))
        // Letter case counts in an address, and two issuers may differ by nothing else.
        guard !issuer.isIssuer else { return conditions.append("(a.issuer = \(exact) OR a.authority = \(exact))") }
        let host = bind(.text(issuer.folded))
        let group = bind(.text(Cloud.group(of: issuer)))
        conditions.append(
            "(a.issuer = \(exact) OR a.authority IN (\(exact), \(group)) OR lower(a.environment) = \(host))"
        )
    }

    private mutating func addClient(_ client: String) {
        let place = bind(.text(client))
        let tables = ["access_token", "refresh_token", "id_token"].map {
            "EXISTS (SELECT 1 FROM \($0) t WHERE t.account_id = a.id AND t.client_fold = \(place))"
        }
        conditions.append("(" + tables.joined(separator: " OR ") + ")")
    }

    private mutating func add(_ tag: TagCriterion, _ sealers: [Sealer]) {
        let matches = sealers.map { sealer in
            let name = "t.name_hash = \(bind(.blob(tag.nameHash(sealer))))"
            guard let value = tag.value else { return "(\(name))" }
            let hash = TagCriterion.valueHash(name: tag.name, value: value, sealer)
            return "(\(name) AND t.value_hash = \(bind(.blob(hash))))"
        }
        let condition = matches.isEmpty ? "FALSE" : matches.joined(separator: " OR ")
        conditions.append("a.id IN (SELECT t.account_id FROM account_tag t WHERE \(condition))")
    }

    /// A file's index of claims does not say whose they are.
    private var owners: String {
        dialect == .postgreSQL
            ? "SELECT c.account_id FROM claim_index c"
            : "SELECT t.account_id FROM claim_index c JOIN id_token t ON t.id = c.id_token_id"
    }

    private mutating func add(_ claim: ClaimCriterion, _ sealers: [Sealer]) {
        let matches = sealers.map { sealer in
            let index = ClaimIndex(sealer)
            let name = "c.name_hash = \(bind(.blob(index.name(claim.name))))"
            guard case .equals(let path, let value) = claim else { return name }
            return name + " AND c.value_hash = \(bind(.blob(index.value(path, value))))"
        }
        conditions.append(
            """
            a.id IN (\(owners)
                WHERE \(matches.isEmpty ? "FALSE" : matches.map { "(\($0))" }.joined(separator: " OR ")))
            """
        )
    }
}
