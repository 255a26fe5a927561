import ArgumentParser
import OAuth
import TokenStorage

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        _superCommandName: "tokenstore",
        abstract: "Check the file, the schema and every sealed value.",
        discussion: """
            Prints each problem and where it is; the exit status is 6 if there is one. Nothing is written without \
            --repair. --repair asks once, copies every readable row into a new file, keeps the damaged file beside it, \
            and lists the accounts that must sign in again. After a repair the exit status is 0 if every sign-in was \
            saved, 6 if one was or may have been lost, and 1 if the file cannot be repaired; then it is unchanged.

            EXAMPLES
              tokenstore check
              tokenstore check --repair
            """
    )

    @Flag(help: "Copy every readable row into a new file.")
    var repair = false

    @Flag(help: "With --repair: change nothing; print the problems.")
    var dryRun = false

    @Flag(help: "With --repair: go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        do { try check() } catch let error as TokenStoreError { throw advised(error) }
    }

    private func check() throws {
        let console = arguments.console
        let (path, place) = (try arguments.location.path, try arguments.location.description)
        let (problems, obstacle) = try problems(console)
        if let obstacle {
            // A program gets its document all the same.
            if arguments.json { try CheckReport(problems: problems, repair: nil).write(arguments, on: console) }
            throw obstacle
        }
        // What a repair does not touch has advice of its own.
        let mendable = problems.filter { $0.remedy == nil }
        // A file that is not a token store is 6, as for every command, and no repair is offered.
        if repair, !problems.isEmpty, let path { try StoreFiles(path, source: arguments.key).requireOwnDatabase() }
        guard let path, repair, !dryRun, !mendable.isEmpty else {
            try CheckReport(problems: problems, repair: nil).write(arguments, on: console)
            guard problems.isEmpty else {
                let message = "\(place) has \(problems.count.counting("problem"))"
                let salvage = path == nil ? Remedy.recovery : Self.salvage
                let hint = mendable.isEmpty ? problems.first?.remedy?.hint : salvage
                throw CommandFailure(.storeDamaged, message, hint)
            }
            return
        }
        let question = "\(place) has \(problems.count.counting("problem")). Replace it with its readable rows"
        try Confirmation(question: question).ask(arguments, isGiven: yes)
        let report = try repaired(path, console)
        try CheckReport(problems: problems, repair: report).write(arguments, on: console)
        guard report.lostSignIns.isEmpty, !report.mayHaveLostOthers else {
            let count = report.lostSignIns.count
            let bound = report.mayHaveLostOthers ? "at least " : ""
            let lost = "\(bound)\(count.counting("sign-in")) \(count == 1 ? "was" : "were") lost"
            throw CommandFailure(
                .storeDamaged,
                "the store is repaired, but \(count == 0 ? "sign-ins may have been lost" : lost)",
                "sign in again with '\(CommandFailure.login)'"
            )
        }
    }

    private static let salvage = "salvage it with 'tokenstore check --repair'"

    private static let restoring = "restore a backup with 'tokenstore restore FILE'"

    private func repaired(_ path: StorePath, _ console: Console) throws -> RepairReport {
        do {
            let database = path.database
            let progress = ProgressLine("repairing", console) { _ in
                ("\(database) is as it was", advice: "run it again")
            }
            return try progress.showing { update in
                try TokenStore.repair(at: path, options: arguments.options(), progress: update)
            }
        } catch let error as TokenStoreError where error.code == .damaged {
            // After a repair 6 says that the store is sound again, without some sign-ins.
            let failure = advised(error)
            throw CommandFailure(.failure, failure.message, failure.hint)
        }
    }

    /// What is wrong, and why not even that could be found out, where no repair is to mend it.
    private func problems(_ console: Console) throws -> (found: [StoreProblem], obstacle: CommandFailure?) {
        do {
            guard let store = try arguments.inspect(console) else { return ([], nil) }
            let progress = ProgressLine("checking", console) { _ in ("not all was checked", advice: "run it again") }
            return (try progress.showing { try store.check(progress: $0) }, nil)
        } catch let error as TokenStoreError where repair && isForRepair(error) {
            return ([StoreProblem(location: "file", problem: mended(error))], nil)
        } catch let error as TokenStoreError where error.code == .damaged {
            return ([StoreProblem(location: "file", problem: error.problem)], advised(error))
        }
    }

    /// The failure, with other advice where the library's is to do what has just been done.
    private func advised(_ error: TokenStoreError) -> CommandFailure {
        let failure = CommandFailure(error)
        guard isAboutThis(error) else { return failure }
        guard (try? arguments.location.path) != nil else { return failure.hinting(Remedy.recovery) }
        // A repair copies what opens; without the data key nothing does.
        let mayHelp = error.code == .damaged && !repair
        return failure.hinting(mayHelp ? Self.salvage : Self.restoring)
    }

    /// The problem that a repair is about to mend, so without the advice to check or repair.
    private func mended(_ error: TokenStoreError) -> String {
        isAboutThis(error) ? error.problem : CommandFailure(error).sentence
    }

    /// Whether the library's advice is the command that runs.
    private func isAboutThis(_ error: TokenStoreError) -> Bool {
        guard let code = error.remedy?.code else { return false }
        return code == .check || code == .repair && repair
    }

    /// Whether a store that cannot be inspected for this reason may be one that a repair mends.
    private func isForRepair(_ error: TokenStoreError) -> Bool {
        // A store of an older version is migrated, and the version itself may be damaged.
        [.olderStore, .damaged, .newerStore].contains(error.code)
    }
}

/// What a check found, and what a repair made of it.
private struct CheckReport {
    let problems: [StoreProblem]
    let repair: RepairReport?

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        for problem in problems { try console.line("\(problem.location): \(problem.problem)".printable) }
        if let repair {
            try text(repair, on: console)
        } else if problems.isEmpty, !console.isQuiet {
            try console.line("no problems")
        }
        try console.output.flush()
    }

    private func text(_ repair: RepairReport, on console: Console) throws {
        let saved = [("account", "account"), ("refresh_token", "refresh token"), ("access_token", "access token")]
            .map { table, noun in (repair.salvaged.first { $0.table == table }?.rows ?? 0).counting(noun) }
        try console.line("saved " + saved.joined(separator: ", "))
        for signIn in repair.lostSignIns { try console.line("has to sign in again: \(name(of: signIn))".printable) }
        if repair.mayHaveLostOthers {
            try console.line("others may have to sign in again too: a list of accounts or sessions is damaged")
        }
        for (table, rows) in repair.lost {
            try console.line("lost \(rows.map { $0.counting("row") } ?? "an unknown number of rows") of \(table)")
        }
        try console.line("the damaged file is kept as \(repair.damagedCopy)".printable)
    }

    private func name(of signIn: LostSignIn) -> String {
        let name = signIn.username ?? signIn.homeAccountID ?? "an account whose name is lost"
        return name + (signIn.clientID.map { " (client \($0))" } ?? "")
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.array("problems", problems) { problem, json in
                json.object {
                    $0.member("place", problem.location)
                    $0.member("problem", problem.problem)
                }
            }
            guard let repair else { return $0.member("repair", JSONValue.null) }
            $0.object("repair") {
                $0.member("damagedCopy", repair.damagedCopy)
                $0.array("salvaged", repair.salvaged) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
                $0.array("lostSignIns", repair.lostSignIns) { signIn, json in
                    json.object {
                        $0.member("username", signIn.username)
                        $0.member("homeAccountId", signIn.homeAccountID)
                        $0.member("authority", signIn.authority)
                        $0.member("clientId", signIn.clientID)
                    }
                }
                $0.member("mayHaveLostOthers", repair.mayHaveLostOthers)
                $0.array("lost", repair.lost) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
            }
        }
    }
}
