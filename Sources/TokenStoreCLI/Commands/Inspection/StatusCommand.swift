import ArgumentParser
import OAuth
import Sealing
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        _superCommandName: "tokenstore",
        abstract: "Show where the store is, what it holds and who could read it.",
        discussion: """
            Prints the path, size, schema version, counts and key source, and who could read the tokens. Nothing is \
            written. If the key is not available, everything is still printed and the exit status is 7; if the data \
            keys in the store are lost, it is 6.

            EXAMPLES
              tokenstore status
              tokenstore status --json | jq .counts.accounts
            """
    )

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let status = try arguments.inspect(console, unlocks: false)?.status()
        let given = arguments.key?.recorded
        let report = StatusReport(location: try arguments.location, status: status, givenSource: given)
        if arguments.json {
            try report.document(on: console)
        } else {
            try report.text(on: console)
        }
        if let status, status.isFillingFromCopy { console.warnOfUnfinishedCopy(to: status.location) }
        if let damage = status?.lostKeys { throw CommandFailure(damage) }
        if let problem = status?.keyProblem { throw CommandFailure(problem) }
    }
}

/// The state of a store, for people or as JSON; nil if the store does not exist.
private struct StatusReport {
    let location: StoreLocation
    let status: StoreStatus?

    /// The source that --key names; nil without it.
    let givenSource: KeySource?

    func text(on console: Console) throws {
        guard let status else { return }
        let rows = [
            ("store", [store(status, on: console)]), ("holds", holdings(status)), ("key", key(status, on: console)),
            ("made", [origin(status, on: console)]), ("server", server(status)), ("moved", moved(status)),
            ("copies", copies(status)), ("waiting", waiting(status)),
        ]
        for (heading, values) in rows where !values.isEmpty { try write(heading, values, on: console) }
        try console.line()
        try console.line(console.terminal.styled("Who could read the tokens", .bold))
        for entry in status.protection { try write(entry, on: console) }
        try console.output.flush()
    }

    private static let indentation = 10

    /// Writes values behind a heading, each in as many lines as the terminal makes of it.
    private func write(_ heading: String, _ values: [String], on console: Console) throws {
        let space = String(repeating: " ", count: Self.indentation - heading.count)
        for (index, value) in values.enumerated() {
            let start = index == 0 ? console.terminal.styled(heading, .bold) + space : Self.space
            let room = console.terminal.width.map { $0 - Self.indentation } ?? .max
            for (number, line) in value.naming(console.given).printable.wrapped(to: room).enumerated() {
                try console.line((number == 0 ? start : Self.space) + line)
            }
        }
    }

    private static let space = String(repeating: " ", count: indentation)

    private func store(_ status: StoreStatus, on console: Console) -> String {
        let place = status.location.description
        let path = console.terminal.isTerminal ? Self.abbreviated(place) : place
        return "\(path)   \(Self.size(status.size)), schema \(status.schemaVersion)"
    }

    private func holdings(_ status: StoreStatus) -> [String] {
        let expired = status.expiredAccessTokens
        let counts = [
            status.accounts.counting("account"),
            status.accessTokens.counting("access token") + (expired > 0 ? " (\(expired.grouped) expired)" : ""),
            status.refreshTokens.counting("refresh token"), status.idTokens.counting("ID token"),
        ]
        let entries = status.quarantined + status.unknownEntries
        let noun = entries == 1 ? "1 entry" : "\(entries.grouped) entries"
        let kept = "\(noun) of an import that \(entries == 1 ? "is" : "are") not understood, kept for export"
        return [counts.joined(separator: ", ")] + (entries > 0 ? [kept] : [])
    }

    private func key(_ status: StoreStatus, on console: Console) -> [String] {
        let isShort = console.terminal.isTerminal && status.keyID.count > 8
        let id = isShort ? status.keyID.prefix(8) + "…" : status.keyID
        // A key that --key names elsewhere opens the store also where the recorded place has none any more.
        let opener = givenSource.map(\.description).flatMap { $0 == status.keySource ? nil : "opened by that of \($0)" }
        let state = status.keyProblem.map { "\($0)" } ?? opener ?? "present"
        let isNew = status.keyID.isEmpty && status.keyProblem == nil
        let name = status.keyID.isEmpty ? "" : " (\(id))"
        let key = isNew ? ", none yet; the next sign-in makes one" : "\(name), \(state)"
        let rekey = status.isRekeyUnfinished ? [StoreStatus.unfinishedRekey] : []
        return [Self.sourceName(status.keySource) + key] + rekey
    }

    private static func sourceName(_ source: String) -> String {
        switch source {
        case "file": "file beside the database"
        case "secret-service": "keyring of the desktop"
        case "environment": "environment variable TOKENSTORE_KEY"
        default: source.split(separator: ":", maxSplits: 1).joined(separator: " ")
        }
    }

    private func origin(_ status: StoreStatus, on console: Console) -> String {
        let (reader, writer) = (status.readerFloor, status.writerFloor)
        let versions =
            reader == writer
            ? "versions with schema \(reader) can read and write it"
            : "versions with schema \(reader) can read it, with schema \(writer) write it"
        return "\(console.time(status.createdAt)) by tokenstore \(status.writtenBy); \(versions)"
    }

    /// What the server is, and what a sign-in that is stored there survives.
    private func server(_ status: StoreStatus) -> [String] {
        guard let server = status.server else { return [] }
        let lag = server.delay.map { delay in
            delay == .zero
                ? " with all that its primary sent" : " whose last commit is \(delay.components.seconds) s old"
        }
        let kind = server.isStandby ? ", a standby\(lag ?? "")" : ""
        let transport = server.isEncrypted ? "TLS" : "without TLS"
        let loss =
            server.survivesLoss
            ? "the loss of the server too, if the standby that it waits for takes over"
            : server.lacksStandby
                ? "nothing can be written now: it waits for a standby, and none is connected"
                : "not the loss of the server: it waits for no standby"
        let survival =
            server.survivesCrash
            ? "a sign-in survives a crash of the server; \(loss)"
            : "a crash of the server can lose sign-ins: fsync, full_page_writes or synchronous_commit is off"
        let seconds = server.clockDifference.components.seconds
        let clock = "its clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") this machine's, and counts"
        let machines = server.machines.joined(separator: ", ")
        let spread = "rows of accounts are on \(machines); each of these needs a standby of its own"
        return ["PostgreSQL \(server.version), \(transport), as \(server.role)\(kind)", survival]
            + (machines.isEmpty ? [] : [spread]) + (abs(seconds) > 1 ? [clock] : [])
    }

    private func moved(_ status: StoreStatus) -> [String] {
        guard let place = status.movedTo else { return [] }
        let doubt = status.isMoveProved ? "" : ", as it says without proof"
        return ["to \(place)\(doubt); nothing is written here any more"]
    }

    private func copies(_ status: StoreStatus) -> [String] {
        guard !status.copies.isEmpty else { return [] }
        let advice = "the keys of their time open them; 'tokenstore rekey' asks whether to remove them"
        return status.copies.map { "\($0.path)   \(Self.size($0.size))" } + [advice]
    }

    private func waiting(_ status: StoreStatus) -> [String] {
        let prospect =
            status.movedTo == nil
            ? "the next sign-in or refresh stores it" : "nothing stores it here unless the move is taken back"
        return status.pendingAnswers.map { "\($0) holds an answer of an issuer; \(prospect)" }
    }

    /// A path with a tilde for the home directory.
    private static func abbreviated(_ path: String) -> String {
        guard let home = StoreArguments.environment["HOME"], home.count > 1, path.hasPrefix(home + "/") else {
            return path
        }
        return "~" + path.dropFirst(home.count)
    }

    /// A number of bytes as people read it: `144 KiB`.
    private static func size(_ bytes: Int64) -> String {
        let units = [("GiB", Int64(1) << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        guard let (unit, size) = units.first(where: { bytes >= $0.1 }) else { return "\(bytes) bytes" }
        let tenths = bytes * 10 / size
        return tenths < 100 && tenths % 10 > 0 ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(tenths / 10) \(unit)"
    }

    private func write(_ entry: StoreStatus.Protection, on console: Console) throws {
        let isAlarming = [.otherUser, .databaseCopy].contains(entry.reader)
        let verdict = console.terminal.styled(
            entry.canRead ? "yes" : "no",
            entry.canRead ? (isAlarming ? .red : .yellow) : .green
        )
        let sentence = entry.reader.name + (entry.isRemarkable ? "; \(entry.reason)" : "")
        let indentation = 7
        let room = console.terminal.width.map { $0 - indentation } ?? .max
        for (number, line) in sentence.printable.wrapped(to: room).enumerated() {
            let start =
                number == 0
                ? "  \(verdict)" + (entry.canRead ? "  " : "   ") : String(repeating: " ", count: indentation)
            try console.line(start + line)
        }
    }

    func document(on console: Console) throws {
        try console.document {
            $0.member("path", location.path?.database)
            $0.member("location", location.description)
            $0.member("exists", status != nil)
            $0.member("size", status.map { Int($0.size) })
            $0.member("storeSchemaVersion", status?.schemaVersion)
            $0.member("readerFloor", status?.readerFloor)
            $0.member("writerFloor", status?.writerFloor)
            $0.member("writtenBy", status?.writtenBy)
            $0.time("createdAt", Timestamp(status?.createdAt))
            counts(to: &$0)
            $0.array("pendingAnswers", status?.pendingAnswers ?? [])
            $0.member("keySource", status?.keySource)
            $0.member("keyId", status?.keyID)
            $0.member("keyProblem", status?.keyProblem.map { "\($0)" })
            $0.member("isRekeyUnfinished", status?.isRekeyUnfinished ?? false)
            $0.member("isFillingFromCopy", status?.isFillingFromCopy ?? false)
            $0.member("movedTo", status?.movedTo)
            server(to: &$0)
            copies(to: &$0)
            protection(to: &$0)
        }
    }

    private func counts(to json: inout JSONOutput) {
        json.object("counts") {
            $0.member("accounts", status?.accounts ?? 0)
            $0.member("accessTokens", status?.accessTokens ?? 0)
            $0.member("expiredAccessTokens", status?.expiredAccessTokens ?? 0)
            $0.member("refreshTokens", status?.refreshTokens ?? 0)
            $0.member("idTokens", status?.idTokens ?? 0)
            $0.member("quarantined", status?.quarantined ?? 0)
            $0.member("foreignEntries", status?.unknownEntries ?? 0)
        }
    }

    private func server(to json: inout JSONOutput) {
        guard let server = status?.server else { return json.member("server", JSONValue.null) }
        json.object("server") {
            $0.member("version", server.version)
            $0.member("isEncrypted", server.isEncrypted)
            $0.member("role", server.role)
            $0.member("isStandby", server.isStandby)
            $0.member("survivesCrash", server.survivesCrash)
            $0.member("survivesLoss", server.survivesLoss)
            $0.member("lacksStandby", server.lacksStandby)
            $0.array("machines", server.machines)
            $0.member("clockDifferenceSeconds", Int(server.clockDifference.components.seconds))
        }
    }

    private func copies(to json: inout JSONOutput) {
        json.array("copies", status?.copies ?? []) { copy, json in
            json.object {
                $0.member("path", copy.path)
                $0.member("size", Int(copy.size))
            }
        }
    }

    private func protection(to json: inout JSONOutput) {
        json.array("protection", status?.protection ?? []) { entry, json in
            json.object {
                $0.member("reader", entry.reader.rawValue)
                $0.member("canRead", entry.canRead)
                $0.member("reason", entry.reason)
            }
        }
    }
}

extension StoreStatus.Protection.Reader {
    /// Who it is, in words.
    fileprivate var name: String {
        switch self {
        case .otherUser: "another user of this machine"
        case .databaseCopy: "someone with a copy of the database alone"
        case .sameUser: "any program of yours"
        default: rawValue
        }
    }
}

extension StoreStatus {
    /// What is said of a store that has two data keys.
    static let unfinishedRekey = "a rekey is unfinished; run 'tokenstore rekey' to finish it"
}
