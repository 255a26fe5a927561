import ArgumentParser
import OAuth
import TokenStorage

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        _superCommandName: "tokenstore",
        abstract: "Show who used the store, when and for what.",
        discussion: """
            The record of use, newest first: sign-ins, refreshes, refusals of an issuer, sign-outs, purges, imports and \
            changes of keys, each with the program that did it. A file keeps the last 2,000 entries, a server those of 30 \
            days, without any secret; the last 2,000 are looked at, or as many as --limit says. Handing out a stored \
            token is not recorded.

            EXAMPLES
              tokenstore history
              tokenstore history mara@example.net --since 7d
              tokenstore history --limit 500 --json |
                jq '.events[] | select(.kind == "refused")'
            """
    )

    @Argument(
        help: ArgumentHelp("Entries of this account only.", valueName: "account"),
        completion: StoreCompletion.of(.account)
    )
    var account: String?

    @Option(help: ArgumentHelp("Show no more than this.", valueName: "count"))
    var limit = 100

    @Option(
        help: ArgumentHelp("Entries no older than this, such as 12h or 7d.", valueName: "age"),
        transform: { try Age(parsing: $0) }
    )
    var since: Age?

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    /// How many entries are looked at: all that a file keeps, and more of a server's where more are to be shown.
    private var range: Int { max(limit, 2_000) }

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit is less than 0", hint: "give a number of entries") }
        try filters.requireUnnamed(beside: account)
    }

    func run() throws {
        let console = arguments.console
        let policy = filters.policy(account: account)
        guard let store = try arguments.inspectAccounts(console) else {
            return try HistoryReport(events: [], total: 0, names: [:]).write(arguments, on: console)
        }
        let all =
            try policy.map { try store.events(of: store.account($0).id, limit: range) }
            ?? store.events(limit: range)
        let start = since.map { console.now - $0.seconds } ?? .min
        let recent = all.filter { Timestamp($0.at).epoch >= start }
        let shown = Array(recent.prefix(limit))
        var names: [Account.ID: String] = [:]
        for id in Set(shown.compactMap(\.account)) { names[id] = try store.account(id)?.username }
        try HistoryReport(events: shown, total: recent.count, names: names).write(arguments, on: console)
    }
}

/// The record of use, for people or as JSON.
private struct HistoryReport {
    let events: [StoreEvent]

    /// How many of those looked at there would be without a limit.
    let total: Int

    let names: [Account.ID: String]

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        var table = Table(
            [
                TableColumn(heading: "WHEN"), TableColumn(heading: "WHAT"),
                TableColumn(heading: "ACCOUNT", minimum: 12),
                TableColumn(heading: "OUTCOME", minimum: 8), TableColumn(heading: "PROGRAM", minimum: 8),
                TableColumn(heading: "CLIENT", minimum: 10, dropOrder: 1),
            ],
            as: TableForm(on: console),
            on: console
        )
        for event in events {
            try table.add([
                TableCell(console.time(event.at)), TableCell(event.kind.rawValue), TableCell(name(of: event)),
                TableCell(event.outcome, style: event.kind == .refused ? .red : nil), TableCell(event.program),
                TableCell(event.clientID),
            ])
        }
        try table.finish()
        if total > events.count { console.note("and \((total - events.count).grouped) more; --limit shows them") }
    }

    /// The store has `sign_in`, and JSON `signIn`.
    private static func word(_ kind: StoreEvent.Kind) -> String {
        let words = kind.rawValue.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The username, else the id, of an account that is still there.
    private func name(of event: StoreEvent) -> String? {
        guard let id = event.account else { return nil }
        return names[id].flatMap { $0.isEmpty ? nil : $0 } ?? id.homeAccountID
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.array("events", events) { event, json in
                json.object {
                    $0.time("at", Timestamp(event.at))
                    $0.member("program", event.program)
                    $0.member("processId", Int(event.processID))
                    $0.member("kind", Self.word(event.kind))
                    $0.member("outcome", event.outcome)
                    $0.member("homeAccountId", event.account?.homeAccountID)
                    $0.identifier("username", event.account.flatMap { names[$0] })
                    $0.identifier("clientId", event.clientID)
                }
            }
            $0.member("total", total)
        }
    }
}
