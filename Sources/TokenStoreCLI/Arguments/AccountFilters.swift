import ArgumentParser
import OAuth
import Sealing
import TokenStorage

/// The selector and the filters that say which accounts are meant.
struct AccountFilters: ParsableArguments {
    @Option(
        name: [.customShort("a"), .long],
        help: ArgumentHelp(
            "One account: its home account id, username or local account id, or a unique prefix of at least 4 "
                + "characters of the first.",
            valueName: "account"
        ),
        completion: StoreCompletion.of(.account)
    )
    var account: String?

    @Option(
        help: ArgumentHelp("Accounts of a B2C user flow, such as B2C_1_SUSI.", valueName: "policy"),
        completion: StoreCompletion.of(.userFlow)
    )
    var policy: String?

    @Option(
        help: ArgumentHelp("Accounts seen in a tenant.", valueName: "tenant"),
        completion: StoreCompletion.of(.tenant)
    )
    var tenant: String?

    @Option(
        help: ArgumentHelp("Accounts of an issuer, letter by letter, or of its host.", valueName: "url"),
        completion: StoreCompletion.of(.issuer)
    )
    var issuer: String?

    @Option(
        help: ArgumentHelp("Accounts with a token of a client.", valueName: "id"),
        completion: StoreCompletion.of(.client)
    )
    var clientID: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Accounts by a claim: NAME=VALUE, NAME~=TEXT (contains) or NAME (present). Dots reach into objects; a "
                + "list fits when one element does. Repeatable.",
            valueName: "claim"
        ),
        completion: StoreCompletion.of(.claim),
        transform: { try ClaimCondition(parsing: $0) }
    )
    var conditions: [ClaimCondition] = []

    @Option(
        help: ArgumentHelp("Accounts by a tag: NAME=VALUE, or NAME (any value). Repeatable.", valueName: "tag"),
        transform: { try TagCondition(parsing: $0) }
    )
    var tag: [TagCondition] = []

    /// Refuses an empty value, as of a variable that is not set: with an issuer that has no tenants the tenant of every
    /// account is of that name.
    func validate() throws {
        let values = [
            ("--account", account), ("--policy", policy), ("--tenant", tenant), ("--issuer", issuer),
            ("--client-id", clientID),
        ]
        for (option, value) in values where value?.allSatisfy(\.isWhitespace) ?? false {
            throw ValidationError("\(option) is empty", hint: "give a value, or leave it out")
        }
    }

    /// What the filters say, without `--account`; nil if there are none.
    var filter: AccountPolicy? { filter(byClient: true) }

    /// The same; a client that shares the tokens of its family need not have any of its own.
    func filter(byClient: Bool) -> AccountPolicy? {
        let policies: [AccountPolicy] =
            [policy.map { .userFlow($0) }, tenant.map { .tenant($0) }, issuer.map { .issuer($0) }].compactMap(\.self)
            + [byClient ? clientID.map { .client($0) } : nil].compactMap(\.self) + conditions.map(\.policy)
            + tag.map(\.policy)
        return policies.reduce(nil) { $0?.and($1) ?? $1 }
    }

    /// What all of them say, `account` standing in for `--account`; nil if nothing is said.
    func policy(account positional: String? = nil, byClient: Bool = true) -> AccountPolicy? {
        let filter = filter(byClient: byClient)
        guard let account = account ?? positional else { return filter }
        let selector = AccountPolicy.identifier(account)
        return filter.map { selector.and($0) } ?? selector
    }

    /// Checks that `--account` does not name one where `positional` does.
    func requireUnnamed(beside positional: String?) throws {
        guard account == nil || positional == nil else {
            throw ValidationError("the account is named twice", hint: "leave --account out")
        }
    }

    /// Whether what an account is in `tenant` is meant: a guest has other names and claims than at home.
    func includes(tenant other: String) -> Bool {
        tenant.map { $0.lowercased() == other.lowercased() } ?? true
    }

    var isEmpty: Bool { account == nil && filter == nil }

    /// Whether the filter reads claims or tags, which needs the store's key.
    var needsKey: Bool { !conditions.isEmpty || !tag.isEmpty }
}

/// What `--where` asks of a claim.
struct ClaimCondition {
    let policy: AccountPolicy

    /// Whether it cannot be answered by the index of claims.
    private(set) var opensTokens = false

    init(parsing text: String) throws {
        // Not by characters: a value may begin with an accent, which would be one character with the sign before it.
        let scalars = text.unicodeScalars
        guard let sign = scalars.firstIndex(of: "=") else {
            policy = .claim(try Self.name(text[...], of: text))
            return
        }
        let value = String(scalars[scalars.index(after: sign)...])
        let name = text[..<sign]
        guard !name.hasSuffix("!"), !name.hasSuffix("~") || !value.allSatisfy(\.isWhitespace) else {
            throw ValidationError("'\(text)' is not a condition", hint: "give NAME=VALUE, NAME~=TEXT or NAME")
        }
        if name.hasSuffix("~") {
            opensTokens = true
            policy = .claim(try Self.name(name.dropLast(), of: text), contains: value)
        } else {
            policy = .claim(try Self.name(name, of: text), equals: .string(value))
        }
    }

    private static func name(_ name: Substring, of text: String) throws -> String {
        guard !name.isEmpty else {
            throw ValidationError("'\(text)' does not name a claim", hint: "give NAME=VALUE, NAME~=TEXT or NAME")
        }
        return String(name)
    }
}

/// What `--tag` asks of a tag, or `tag` notes.
struct TagCondition {
    let name: String

    /// nil: any.
    let value: String?

    var policy: AccountPolicy { value.map { .tag(name, equals: $0) } ?? .tag(name) }

    init(parsing text: String) throws {
        let scalars = text.unicodeScalars
        let sign = scalars.firstIndex(of: "=")
        name = String(scalars[..<(sign ?? scalars.endIndex)])
        value = sign.map { String(scalars[scalars.index(after: $0)...]) }
        guard !name.isEmpty else {
            throw ValidationError("'\(text)' does not name a tag", hint: "give NAME=VALUE or NAME")
        }
    }
}

extension StoreReading {
    /// The one account that `filters` select, and the client whose tokens are meant; `signInAgain` where none has any.
    func account(
        _ filters: AccountFilters,
        byClient: Bool,
        at authority: Authority?,
        signInAgain: (Account) -> SignInAgain
    ) throws -> TokenOwner {
        let account = try account(AccountChoice(filters, byClient: byClient, at: authority))
        if let client = filters.clientID { return (account, client) }
        let clients = try summary(of: account.id)?.clientIDs ?? []
        guard let client = clients.first else {
            let failure = CommandFailure(.interactionRequired, "no client has tokens of the account", "sign in again")
            throw signInAgain(account).completing(failure)
        }
        guard clients.count == 1 else {
            let names = clients.joined(separator: ", ")
            throw CommandFailure(.ambiguous, "the account has tokens of \(names)", "name one with --client-id")
        }
        return (account, client)
    }
}

extension CommandFailure {
    /// How accounts come into a store that is not there, or what keeps it from being made there.
    static func filling(_ location: StoreLocation) -> String {
        guard let path = location.path else { return Remedy.makingStore }
        do {
            try TokenStore.requireOwnDirectory(of: path)
            let answers = try path.pendingAnswers().count
            guard answers > 0 else { return signingIn }
            return "move \(answers == 1 ? "it" : "them") beside the store if that was moved, or \(signingIn)"
        } catch {
            let failure = CommandFailure(error)
            return failure.sentence
        }
    }

    static let signingIn = "sign in with '\(login)', or fill it with 'tokenstore import FILE'"

    /// The sign-in, where nothing is known of the issuer.
    static let login = "tokenstore login --issuer URL --client-id ID"

    /// That there is no store, and how many answers a store has left behind that was moved away.
    static func absence(of location: StoreLocation, _ soFar: String = "") throws -> String {
        let answers = try location.path?.pendingAnswers().count ?? 0
        let waiting =
            switch answers {
            case 0: ""
            case 1: ", and 1 answer of an issuer waits beside it"
            default: ", and \(answers.grouped) answers of issuers wait beside it"
            }
        return "no store at \(location)\(soFar)\(waiting)"
    }

    static func noStore(at location: StoreLocation) throws -> CommandFailure {
        let problem = "no account fits, because there is \(try absence(of: location))"
        return CommandFailure(.noMatch, problem, filling(location))
    }
}

extension StoreReading {
    /// The one account that `policy` selects; it fails otherwise, in words that depend on whether a person named an
    /// account (`isNamed`) or relied on there being only one.
    func account(_ policy: AccountPolicy, isNamed: Bool = true) throws -> Account {
        let (outcome, fitting) = try outcome(of: policy)
        switch outcome {
        case .account(let account): return account
        case .none:
            try requireFilled()
            guard isNamed else {
                throw CommandFailure(.noMatch, "the store has no account", CommandFailure.signingIn)
            }
            let advice = try storedIssuer(meantBy: policy) ?? "see the accounts with 'tokenstore list'"
            throw CommandFailure(.noMatch, "no account fits", advice)
        case .ambiguous(let accounts):
            throw CommandFailure(ambiguous: accounts, of: fitting, isNamed: isNamed)
        }
    }

    /// How the store spells the issuer that a policy asks for, as advice; nil where it has that very one, or where none
    /// or several differ from it by letter case and a slash at the end alone.
    func storedIssuer(meantBy policy: AccountPolicy) throws -> String? {
        // A host is found in any case.
        guard let asked = policy.askedIssuer, asked.isIssuer else { return nil }
        func loose(_ issuer: String) -> String {
            let folded = issuer.folded
            return folded.hasSuffix("/") ? String(folded.dropLast()) : folded
        }
        let known = try suggestions(.issuer, prefix: loose(asked)).filter { loose($0) == loose(asked) }
        guard known.count == 1, known[0] != asked else { return nil }
        return "the issuer is stored as '\(known[0])', and every letter counts"
    }
}
