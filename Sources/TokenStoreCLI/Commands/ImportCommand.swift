import ArgumentParser
import OAuth
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        _superCommandName: "tokenstore",
        abstract: "Take over the accounts and tokens of an MSAL cache.",
        discussion: """
            Reads the unified cache of MSAL (JSON) from FILE, or from standard input with - or in a pipe. A document \
            that is not JSON changes nothing. A row that cannot be read is reported and quarantined; the others are \
            imported. Importing the same file twice changes nothing. The first import creates the store. FILE is not \
            changed; delete it when its plain-text tokens are not needed any more.

            EXAMPLES
              tokenstore import --dry-run ~/cache.json
              tokenstore import ~/cache.json
              tokenstore import --key passphrase ~/cache.json
              ssh host cat cache.json | tokenstore import
            """
    )

    @Argument(help: "Input file; - for standard input.", completion: .file())
    var file: String?

    @Option(help: "Input format. Default: detected.")
    var format: DocumentFormat?

    @Flag(help: "Change nothing; print what would be imported.")
    var dryRun = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        try FileName.check(file, hint: "name a file, or - for standard input")
        guard file != nil || !StandardInput.isTerminal else {
            throw ValidationError("no document is given", hint: "name a FILE, or pipe one in")
        }
    }

    func run() throws {
        let console = arguments.console
        let input = try InputDocument(file ?? "-")
        defer { withExtendedLifetime(input) {} }
        let kept = ("nothing was imported", advice: "run it again")
        let progress = ProgressLine("importing", console) { _ in kept }
        // A document that is refused must not leave a new store behind.
        let document = try progress.showing { update in
            let document = try MSALCacheDocument(input.bytes, isKnownFormat: format != nil, progress: update)
            // A signal that came after the last step would be forgotten, and other work follows.
            if ProgressLine.isInterrupted { throw ProgressLine.interruption(kept) }
            return document
        }
        if dryRun { return try report(preview(document, progress), on: console) }
        let store = try arguments.open(console)
        defer { store.close() }
        let imported = try progress.showing { update in try store.importMSALCache(document, progress: update) }
        try report(imported, on: console)
    }

    private func preview(_ document: MSALCacheDocument, _ progress: ProgressLine) throws -> ImportReport {
        try arguments.unlocking { options in
            try progress.showing { update in
                try TokenStore.previewImport(
                    of: document,
                    at: arguments.location,
                    options: options,
                    progress: update
                )
            }
        }
    }

    private func report(_ report: ImportReport, on console: Console) throws {
        try ImportSummary(report: report, isDryRun: dryRun).write(arguments, on: console)
    }
}

/// What an import took over.
private struct ImportSummary {
    let report: ImportReport
    let isDryRun: Bool

    /// The columns that are left for a key; those of MSAL name the account, the client and the scope.
    private static let longestKey = 200

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        for rejection in report.rejected {
            let key = rejection.key.map { ", \($0.printable.truncated(to: Self.longestKey))" } ?? ""
            console.log(.error, "\(rejection.bucket)\(key): \(rejection.reason)")
        }
        if console.isQuiet, !isDryRun { return }
        let counts = [
            report.accounts.counting("account"), report.accessTokens.counting("access token"),
            report.refreshTokens.counting("refresh token"), report.idTokens.counting("ID token"),
            "\(report.appMetadata) app metadata", "\(report.other) other",
        ]
        let deed = isDryRun ? "would import" : "imported"
        try console.line("\(deed) \(counts.joined(separator: ", "))\(names)".printable)
        try console.line("unchanged \(report.unchanged), rejected \(report.rejected.count)")
        try console.output.flush()
    }

    /// The accounts of a dry run by name.
    private var names: String {
        guard isDryRun, !report.accountNames.isEmpty else { return "" }
        return ": " + report.accountNames.listed(of: report.accounts)
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.member("dryRun", isDryRun)
            $0.array("accountNames", report.accountNames)
            $0.member("accountTotal", report.accounts)
            $0.object("imported") {
                $0.member("accounts", report.accounts)
                $0.member("accessTokens", report.accessTokens)
                $0.member("refreshTokens", report.refreshTokens)
                $0.member("idTokens", report.idTokens)
                $0.member("appMetadata", report.appMetadata)
                $0.member("other", report.other)
            }
            $0.member("unchanged", report.unchanged)
            $0.array("rejected", report.rejected) { rejection, json in
                json.object {
                    $0.member("bucket", rejection.bucket)
                    $0.member("key", rejection.key)
                    $0.member("reason", rejection.reason)
                }
            }
        }
    }
}

/// What an import reads and an export writes.
enum DocumentFormat: String, CaseIterable, ExpressibleByArgument {
    case msal
}

/// A document read whole; it holds tokens, so its memory is wiped when it goes.
///
/// Read, not mapped: a mapped file that another process cuts short would kill this one.
private final class InputDocument {
    private static let sizeLimit = 1 << 30

    private let name: String
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Reads a file, or standard input for `-`.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        memory = .allocate(byteCount: 1 << 16, alignment: 16)
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path, O_RDONLY)
        guard descriptor >= 0 else { throw unreadable() }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable() }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure(.failure, "\(name) is a directory", "name the cache file in it")
        }
        if status.st_size > 0 { try grow(to: Int(status.st_size) + 1) }
        try readToEnd(descriptor)
        guard count > 0 else {
            throw CommandFailure(.failure, "\(name) is empty", "name a file that holds an MSAL cache")
        }
    }

    private func readToEnd(_ descriptor: Int32) throws {
        while true {
            if count == memory.count { try grow(to: memory.count * 2) }
            let free = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
            let received = systemRead(descriptor, free.baseAddress, free.count)
            if received == 0 { return }
            guard received > 0 || mayReadAgain(descriptor) else { throw unreadable() }
            count += max(0, received)
        }
    }

    private func grow(to size: Int) throws {
        guard size <= Self.sizeLimit else {
            throw CommandFailure(.failure, "\(name) is larger than 1 GB", "name a file that holds an MSAL cache")
        }
        guard size > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        larger.copyMemory(from: bytes)
        wipe(memory)
        memory.deallocate()
        memory = larger
    }

    private func unreadable() -> CommandFailure {
        CommandFailure(.failure, "\(name) cannot be read (\(systemMessage()))", "check the path and its permissions")
    }

    deinit {
        wipe(memory)
        memory.deallocate()
    }
}
