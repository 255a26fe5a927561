import ArgumentParser
import OAuth
import TokenStorage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        _superCommandName: "tokenstore",
        abstract: "Show where the store is, what it holds and who could read it.",
        discussion: """
            Prints the path, size, schema version, counts and key source, and who could read the tokens. Nothing is \
            written. If the key is not available, everything is still printed and the exit status is 7.

            EXAMPLES
              tokenstore status
              tokenstore status --json | jq .counts.accounts
            """
    )

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let status = try arguments.inspect(console, unlocks: false)?.status()
        let report = StatusReport(path: arguments.path, status: status)
        if arguments.json {
            try report.document(on: console)
        } else {
            try report.text(on: console)
        }
        if let problem = status?.keyProblem { throw CommandFailure(problem) }
    }
}

/// The state of a store, for people or as JSON; nil if the store does not exist.
private struct StatusReport {
    let path: StorePath
    let status: StoreStatus?

    func text(on console: Console) throws {
        guard let status else { return }
        let key = status.keyProblem.map { "\($0)" } ?? "available"
        let created = Timestamp(status.createdAt)
        let age = console.terminal.isTerminal ? " (\(RelativeTime(created, from: console.now)))" : ""
        let rows: [(String, String)] = [
            ("store", status.path.database),
            ("size", "\(status.size) bytes"),
            ("schema version", "\(status.schemaVersion)"),
            ("readable from", "schema version \(status.readerFloor)"),
            ("writable from", "schema version \(status.writerFloor)"),
            ("written by", "tokenstore \(status.writtenBy)"),
            ("created", "\(created)\(age)"),
            ("accounts", "\(status.accounts)"),
            ("access tokens", "\(status.accessTokens)"),
            ("refresh tokens", "\(status.refreshTokens)"),
            ("ID tokens", "\(status.idTokens)"),
            ("imported rows", "\(status.quarantined) quarantined, \(status.unknownEntries) unknown"),
            ("key source", status.keySource),
            ("key", status.keyID.isEmpty ? "none yet; the next sign-in makes one" : "\(status.keyID), \(key)"),
        ]
        try write(rows + status.copies.map { ("copy", "\($0.path), \($0.size) bytes") }, on: console)
        if !status.copies.isEmpty {
            try console.line(
                "The keys of their time open the copies; 'tokenstore purge --all' and 'rekey' remove them."
            )
        }
        for name in status.pendingAnswers {
            try console.line("\(name) holds an answer of an issuer; the next sign-in or refresh stores it.".printable)
        }
        if status.isRekeyUnfinished { try console.line("A rekey is unfinished; run 'tokenstore rekey' to finish it.") }
        try console.line()
        try console.line(console.terminal.styled("Who could read the tokens", .bold))
        try write(status.protection.map { ("  \($0.reader)", $0.verdict) }, on: console)
        try console.output.flush()
    }

    private func write(_ rows: [(String, String)], on console: Console) throws {
        let width = rows.reduce(0) { max($0, $1.0.columns) }
        for (name, value) in rows {
            let padding = String(repeating: " ", count: width - name.columns)
            try console.line("\(name)\(padding)  \(value.printable)")
        }
    }

    func document(on console: Console) throws {
        try console.document {
            $0.member("path", path.database)
            $0.member("exists", status != nil)
            $0.member("size", status.map { Int($0.size) })
            $0.member("storeSchemaVersion", status?.schemaVersion)
            $0.member("readerFloor", status?.readerFloor)
            $0.member("writerFloor", status?.writerFloor)
            $0.member("writtenBy", status?.writtenBy)
            $0.time("createdAt", Timestamp(status?.createdAt))
            $0.object("counts") {
                $0.member("accounts", status?.accounts ?? 0)
                $0.member("accessTokens", status?.accessTokens ?? 0)
                $0.member("refreshTokens", status?.refreshTokens ?? 0)
                $0.member("idTokens", status?.idTokens ?? 0)
                $0.member("quarantined", status?.quarantined ?? 0)
                $0.member("foreignEntries", status?.unknownEntries ?? 0)
            }
            $0.array("pendingAnswers", status?.pendingAnswers ?? [])
            $0.member("keySource", status?.keySource)
            $0.member("keyId", status?.keyID)
            $0.member("keyProblem", status?.keyProblem.map { "\($0)" })
            $0.member("isRekeyUnfinished", status?.isRekeyUnfinished ?? false)
            $0.array("copies", status?.copies ?? []) { copy, json in
                json.object {
                    $0.member("path", copy.path)
                    $0.member("size", Int(copy.size))
                }
            }
            $0.array("protection", status?.protection ?? []) { entry, json in
                json.object {
                    $0.member("reader", entry.reader)
                    $0.member("verdict", entry.verdict)
                }
            }
        }
    }
}
