import ArgumentParser
import OAuth
import Sealing
import Synchronization
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        _superCommandName: "tokenstore",
        abstract: "Delete expired access tokens, or accounts with everything they have.",
        discussion: """
            Without a selector it deletes expired access tokens and nothing else, and asks nothing. With --account, a \
            filter, --older-than or --all it deletes those accounts with all their tokens and claims, and asks once. \
            Deleted bytes are erased from the database, its log and its free pages; a server keeps sealed copies in \
            its own log and backups. --all also removes copies that \
            a repair or an update of the store left beside it, and works on a store that is too damaged to open, and \
            on one whose key is lost: the next sign-in makes a new key, on a server 'tokenstore init'.

            EXAMPLES
              tokenstore purge
              tokenstore purge --account mara@example.net
              tokenstore purge --older-than 90d --dry-run
              tokenstore purge --all --yes
            """
    )

    @OptionGroup(title: "Which accounts") var filters: AccountFilters

    @Option(
        help: ArgumentHelp(
            "Accounts not used for at least this long, for example 12h, 30d or 8w.",
            valueName: "age"
        ),
        transform: { try Age(parsing: $0) }
    )
    private var olderThan: Age?

    @Flag(help: "All accounts, and everything else in the store.")
    var all = false

    @Flag(help: "Change nothing; print what would be deleted.")
    var dryRun = false

    @Flag(help: "Go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard !all || filters.isEmpty && olderThan == nil else {
            throw ValidationError("--all selects every account", hint: "give --all alone, or a filter without it")
        }
    }

    func run() throws {
        do {
            try purge()
        } catch let error as TokenStoreError where error.remedy?.code == .finishMove {
            let location = try arguments.location
            throw CommandFailure(error).hinting(
                "run its 'tokenstore copy' again to finish it, or take it back with "
                    + "'tokenstore copy --undo \(location.fullDescription.shellWord)'\(location.undoingRole)"
            )
        }
    }

    private func purge() throws {
        let console = arguments.console
        let location = try arguments.location
        guard try !arguments.isVacant || hasCopies else {
            console.note("\(try CommandFailure.absence(of: location)), nothing to purge")
            return try report(PurgeCounts(), isDryRun: dryRun, location).write(arguments, on: console)
        }
        if dryRun || isDestructive {
            var counts = try purge(console, isTrial: true)
            if dryRun { counts.accountNames = try names(counts, console) }
            let trial = report(counts, isDryRun: true, location)
            if dryRun { return try trial.write(arguments, on: console) }
            if all || !trial.isEmpty { try Confirmation(question: trial.question).ask(arguments, isGiven: yes) }
        }
        let counts = try purge(console, isTrial: false)
        try report(counts, isDryRun: false, location).write(arguments, on: console)
    }

    /// Whether copies of a store that is gone are left, which go with everything.
    private var hasCopies: Bool {
        get throws {
            guard all, let path = try arguments.location.path else { return false }
            let options = arguments.options(unlocks: false)
            return try !TokenStore.removeCopies(at: path, options: options, dryRun: true).removed.isEmpty
        }
    }

    private func report(_ counts: PurgeCounts, isDryRun: Bool, _ location: StoreLocation) -> PurgeReport {
        PurgeReport(counts: counts, isDryRun: isDryRun, location: location)
    }

    private var isDestructive: Bool { all || olderThan != nil || !filters.isEmpty }

    /// Deletes, or on a trial looks at a store that is not even opened for writing.
    private func purge(_ console: Console, isTrial: Bool) throws -> PurgeCounts {
        let options = arguments.options(unlocks: filters.needsKey)
        let location = try arguments.location
        // A file is purged in one commit, a server in many.
        let deleted = LockedValue(0)
        let progress = ProgressLine("deleting", console) { _ in
            let count = location.path == nil ? deleted.withLock(\.self) : 0
            guard count > 0 else { return ("nothing was deleted", advice: "run it again") }
            return ("\(count.counting("account")) are deleted already", advice: "run it again for the rest")
        }
        func counting(_ update: @escaping TokenStore.ProgressHandler) -> TokenStore.ProgressHandler {
            { progress in
                if progress.unit == "accounts" { deleted.withLock { $0 = max($0, progress.done) } }
                try update(progress)
            }
        }
        if all {
            guard !isTrial else { return try TokenStore.purgeAll(at: location, options: options, dryRun: true) }
            return try progress.showing {
                try TokenStore.purgeAll(at: location, options: options, progress: counting($0))
            }
        }
        guard isTrial else {
            let store = try arguments.open(console, unlocks: filters.needsKey)
            defer { store.close() }
            guard let policy = try policy(console, in: store) else { return try store.purgeExpired() }
            return try progress.showing { try store.purge(policy, progress: counting($0)) }
        }
        guard let store = try arguments.inspect(console, unlocks: filters.needsKey, decides: true) else {
            return PurgeCounts()
        }
        try store.requireWritable()
        guard let policy = try policy(console, in: store) else { return try store.previewPurgeExpired() }
        let counts = try store.previewPurge(policy)
        if counts.accounts == 0, try !store.tellUnfinishedCopy(console),
            let advice = try store.storedIssuer(meantBy: policy)
        {
            console.note("no account fits; \(advice)")
        }
        return counts
    }

    /// What people call the accounts that would be deleted: all of them, unless the store is of an older version, or is
    /// damaged and everything would go.
    private func names(_ counts: PurgeCounts, _ console: Console) throws -> [String] {
        guard counts.accountNames.count < counts.accounts else { return counts.accountNames }
        do {
            guard let store = try arguments.inspected(unlocks: filters.needsKey, decides: true) else {
                return counts.accountNames
            }
            return try store.accountNames(matching: policy(console, in: store) ?? .all)
        } catch let error as TokenStoreError where all || error.code == .olderStore {
            return counts.accountNames
        }
    }

    /// The accounts to delete; nil where only access tokens are.
    private func policy(_ console: Console, in store: some StoreReading) throws -> AccountPolicy? {
        let selected = filters.policy()
        if filters.account != nil, let selected {
            do { _ = try store.account(selected) } catch let error as TokenStoreError where error.isMendedByPurge {}
        }
        let unused = olderThan.map { AccountPolicy.unused(since: Date(unixSeconds: max(0, console.now - $0.seconds))) }
        return selected.map { policy in unused.map { policy.and($0) } ?? policy } ?? unused
    }
}

/// What a purge deleted, or would delete.
struct PurgeReport {
    let counts: PurgeCounts
    let isDryRun: Bool
    let location: StoreLocation

    var isEmpty: Bool { counts == PurgeCounts() }

    /// What a store holds that is too damaged to be read cannot be counted; its file is named instead.
    var question: String {
        let files = counts.removedFiles.joined(separator: ", ")
        guard isDatabaseReadable else { return "Overwrite and remove \(files)" }
        let rows = hasRows ? text : "everything in the store"
        return "Delete \(rows)" + (files.isEmpty ? "" : ", and overwrite and remove \(files)")
    }

    /// Whether the store itself is not among the files that go.
    private var isDatabaseReadable: Bool { location.path.map { !counts.removedFiles.contains($0.database) } ?? true }

    private var hasRows: Bool {
        counts.accounts + counts.accessTokens + counts.refreshTokens + counts.idTokens > 0
    }

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json {
            try console.document {
                $0.member("dryRun", isDryRun)
                $0.object("deleted") {
                    $0.member("accounts", counts.accounts)
                    $0.member("accessTokens", counts.accessTokens)
                    $0.member("refreshTokens", counts.refreshTokens)
                    $0.member("idTokens", counts.idTokens)
                }
                $0.array("accountNames", counts.accountNames)
                $0.array("removedFiles", counts.removedFiles)
                $0.array("keptFiles", counts.keptFiles)
            }
        } else if !console.isQuiet || isDryRun {
            try console.line(((isDryRun ? "would delete " : "deleted ") + text).printable)
            for file in counts.removedFiles {
                try console.line(((isDryRun ? "would remove " : "removed ") + file).printable)
            }
            try console.output.flush()
        }
        if location.path == nil, !isDryRun, !isEmpty { console.note(Self.server) }
        for file in counts.keptFiles {
            console.warn("\(file) was not removed, as it may not be a copy of a store; remove it yourself")
        }
    }

    /// What no program can promise for a server.
    private static let server =
        "the rows are deleted; sealed copies stay in the server's log, replicas and backups until those age out, and "
        + "open only with the key"

    private var text: String {
        [
            counts.accounts.counting("account"), counts.accessTokens.counting("access token"),
            counts.refreshTokens.counting("refresh token"), counts.idTokens.counting("ID token"),
        ].joined(separator: ", ") + names
    }

    /// The accounts by name, as far as they are few.
    private var names: String {
        counts.accountNames.isEmpty ? "" : ": " + counts.accountNames.listed(of: counts.accounts)
    }
}
