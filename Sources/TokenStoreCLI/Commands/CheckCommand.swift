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

    @Flag(help: "With --repair: change nothing; print the problems, and what would be saved.")
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
            if arguments.json { try CheckReport(isDryRun: dryRun, problems: problems).write(arguments, on: console) }
            throw obstacle
        }
        // What a repair does not touch has advice of its own.
        let mendable = problems.filter { $0.remedy == nil }
        // A file that is not a token store is 6, as for every command, and no repair is offered.
        if repair, !problems.isEmpty, let path { try StoreFiles(path, source: arguments.key).requireOwnDatabase() }
        let finding = "\(place) has \(problems.count.counting("problem"))"
        guard let path, repair, !dryRun, !mendable.isEmpty else {
            let trial = path.flatMap { repair && !mendable.isEmpty ? planned($0, console) : nil }
            let made = trial?.plan.map { Repair(plan: $0, damagedCopy: nil) }
            try CheckReport(isDryRun: dryRun, problems: problems, repair: made).write(arguments, on: console)
            guard !problems.isEmpty else { return }
            let salvage = path == nil ? Remedy.recovery : trial?.instead ?? Self.salvage
            let hint = mendable.isEmpty ? problems.first?.remedy?.hint : salvage
            throw CommandFailure(.storeDamaged, finding, hint)
        }
        try Confirmation(question: "\(finding). Replace it with its readable rows").ask(arguments, isGiven: yes)
        try report(repaired(path, console), of: problems, console)
    }

    /// Says what a repair has saved and lost.
    private func report(_ report: RepairReport, of problems: [StoreProblem], _ console: Console) throws {
        let again = signInsAgain(report)
        let made = Repair(plan: report.plan, damagedCopy: report.damagedCopy)
        try CheckReport(isDryRun: dryRun, problems: problems, repair: made, again: again).write(arguments, on: console)
        if report.plan.isRekeyUnfinished { console.note(StoreStatus.unfinishedRekey) }
        guard !report.lostSignIns.isEmpty || report.mayHaveLostOthers else { return }
        let count = report.lostSignIns.count(where: \.isCertain)
        let bound = report.mayHaveLostOthers ? "at least " : ""
        let lost = "\(bound)\(count.counting("sign-in")) \(count == 1 ? "was" : "were") lost"
        throw CommandFailure(
            .storeDamaged,
            "the store is repaired, but \(count == 0 ? "sign-ins may have been lost" : lost)",
            "sign in again with '\(report.lostSignIns.lazy.compactMap { again[$0] }.first ?? CommandFailure.login)'"
        )
    }

    /// The commands that sign the accounts in again whose sessions are lost, as far as the store knows what they need.
    private func signInsAgain(_ report: RepairReport) -> [LostSignIn: String] {
        // The key may be one that a person is asked for.
        guard !report.lostSignIns.isEmpty, let store = try? arguments.inspect(arguments.console) else { return [:] }
        var commands: [LostSignIn: String] = [:]
        for signIn in report.lostSignIns {
            guard let issuer = signIn.authority, let id = signIn.homeAccountID, let client = signIn.clientID,
                let account = try? store.summary(of: Account.ID(issuer: issuer, homeAccountID: id))?.account
            else { continue }
            commands[signIn] = try? SignInAgain(account, client, nil, in: store, nil, arguments).command()
        }
        return commands
    }

    private static let salvage = "salvage it with 'tokenstore check --repair'"

    private static let restoring = "restore a backup with 'tokenstore restore FILE'"

    /// What a repair would save; nil, after a line that says why, where that cannot be tried, with what to do instead
    /// where no repair can save anything.
    private func planned(_ path: StorePath, _ console: Console) -> (plan: RepairPlan?, instead: String?) {
        do {
            let plan: RepairPlan = try arguments.unlocking { options in
                var options = options
                // The problems are known already, and no other program is to wait for a trial.
                options.busyTimeout = min(options.busyTimeout, .seconds(1))
                let progress = ProgressLine("trying a repair", console) { _ in
                    ("nothing was changed", advice: "run it again")
                }
                return try progress.showing { try TokenStore.planRepair(at: path, options: options, progress: $0) }
            }
            return (plan, nil)
        } catch let error as TokenStoreError where error.code == .damaged {
            console.warn("no repair is possible: \(error.problem)")
            return (nil, advised(error).hint)
        } catch {
            console.warn("what a repair would save is not known: \(CommandFailure(error).sentence)")
            return (nil, nil)
        }
    }

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
            try store.tellUnfinishedCopy(console)
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
        isAboutThis(error) ? error.problem : CommandFailure(error).naming(arguments.console.given).sentence
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

/// A repair that was made, or would be.
private struct Repair {
    let plan: RepairPlan

    /// nil: nothing was changed.
    let damagedCopy: String?
}

/// What a check found, and what a repair made of it.
private struct CheckReport {
    let isDryRun: Bool
    let problems: [StoreProblem]
    var repair: Repair?

    /// The commands that sign in again.
    var again: [LostSignIn: String] = [:]

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

    private func text(_ repair: Repair, on console: Console) throws {
        let plan = repair.plan
        let would = repair.damagedCopy == nil
        let saved = [("account", "account"), ("refresh_token", "refresh token"), ("access_token", "access token")]
            .map { table, noun in (plan.salvaged.first { $0.table == table }?.rows ?? 0).counting(noun) }
        try console.line((would ? "would save " : "saved ") + saved.joined(separator: ", "))
        for signIn in plan.lostSignIns {
            let command = again[signIn].map { ", with '\($0)'" } ?? ""
            let duty = signIn.isCertain ? would ? "would have" : "has" : "may have"
            let line = "\(duty) to sign in again: \(name(of: signIn))\(command)"
            try console.line(line.printable)
        }
        if plan.mayHaveLostOthers {
            let words = plan.lostSignIns.isEmpty ? ("accounts", "again") : ("other accounts", "again too")
            try console.line("\(words.0) may have to sign in \(words.1): a table of accounts or sessions is damaged")
        }
        for lost in plan.lost {
            let count = lost.rows.map { $0.counting("row") } ?? "an unknown number of rows"
            try console.line("\(would ? "would lose" : "lost") \(count) of \(lost.table)")
        }
        if let copy = repair.damagedCopy { try console.line("the damaged file is kept as \(copy)".printable) }
    }

    private func name(of signIn: LostSignIn) -> String {
        let name = signIn.username ?? signIn.homeAccountID ?? "an account whose name is lost"
        return name + (signIn.clientID.map { " (client \($0))" } ?? "")
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.member("dryRun", isDryRun)
            $0.array("problems", problems) { problem, json in
                json.object {
                    $0.member("place", problem.location)
                    $0.member("problem", problem.problem)
                }
            }
            guard let repair else { return $0.member("repair", JSONValue.null) }
            let plan = repair.plan
            $0.object("repair") {
                $0.member("damagedCopy", repair.damagedCopy)
                $0.array("salvaged", plan.salvaged) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
                $0.array("lostSignIns", plan.lostSignIns) { signIn, json in
                    json.object {
                        $0.member("username", signIn.username)
                        $0.member("homeAccountId", signIn.homeAccountID)
                        $0.member("authority", signIn.authority)
                        $0.member("clientId", signIn.clientID)
                    }
                }
                $0.member("mayHaveLostOthers", plan.mayHaveLostOthers)
                $0.array("lost", plan.lost) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
            }
        }
    }
}
