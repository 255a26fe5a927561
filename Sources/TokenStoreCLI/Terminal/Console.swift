import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a command says what it has to say.
struct Console {
    let output = BufferedOutput.standardOutput()
    let terminal: Terminal
    let isQuiet: Bool
    let logLevel: LogLevel
    let now = Date().unixSeconds

    /// The store as the arguments name it.
    var given = GivenStore()

    func line(_ text: String = "") throws { try output.write(text + "\n") }

    /// Writes one JSON document and nothing else.
    func document(_ body: (inout JSONOutput) -> Void) throws {
        var json = JSONOutput()
        json.object {
            $0.member("schemaVersion", 1)
            body(&$0)
        }
        json.endLine()
        try output.append { $0.append(contentsOf: json.bytes) }
        try output.flush()
    }

    /// Tells a person what the answer alone does not say.
    func note(_ text: String) { if !isQuiet { say(text) } }

    /// Says what was asked for and not done, or what is left for a person to do: also with --quiet.
    func warn(_ text: String) { if !isQuiet || logLevel <= .warning { say(text) } }

    private func say(_ text: String) {
        // A part of a command is another command.
        let text = text.firstRange(of: "'tokenstore ") == nil ? text.boundedSentence : text.naming(given)
        StandardError.write("tokenstore: \(text.printable)\n")
    }

    /// Says that the store has not got the new tokens yet; one that was moved away has left them behind.
    func notePending(_ reason: String, at location: StoreLocation) {
        guard let left = location.path?.answersLeftBehind, !left.isEmpty else {
            return warn(
                "the issuer's answer is kept in a file beside the store, and stored by the next command: \(reason)"
            )
        }
        let file = left.joined(separator: ", ")
        warn(
            "the issuer's answer is kept in \(file): \(reason); move \(left.count == 1 ? "that file" : "those files") "
                + "beside the store, where the next command stores it"
        )
    }

    /// A shorter text where a person reads on a terminal.
    func short(_ text: @autoclosure () -> String?) -> String? { terminal.isTerminal ? text() : nil }

    func log(_ level: LogLevel, _ text: @autoclosure () -> String) {
        guard level >= logLevel else { return }
        StandardError.write("tokenstore: \(level.rawValue): \(text().boundedSentence.printable)\n")
    }

    /// How far away on a terminal, where a person reads it; else the instant itself.
    func time(_ date: Date?) -> String {
        guard let instant = Timestamp(date) else { return "-" }
        return terminal.isTerminal ? RelativeTime(instant, from: now).description : instant.description
    }
}

extension StorePath {
    /// The answers of issuers that a store has left behind which was moved away; none while it is there.
    fileprivate var answersLeftBehind: [String] {
        // Where the directory cannot be read, the answer is in a file of it all the same.
        FileStatus.isAbsent(database) ? (try? pendingAnswers()) ?? [] : []
    }
}

/// What standard output can show: nil for `width` unless it is a terminal.
struct Terminal {
    let width: Int?
    private let hasColour: Bool

    var isTerminal: Bool { width != nil }

    /// A terminal that is asked for colour always, never, or where it shows colour (nil).
    init(colour: Bool?, environment: [String: String]) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        width = isTerminal || Self.isWatched(environment) ? Self.width(environment) : nil
        let isColourRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let showsColour = environment["TERM"] != "dumb" && environment["TERM"] != nil
        hasColour = colour ?? (isTerminal && showsColour && !isColourRefused)
    }

    /// Whether `watch` shows the output: it names the size of its terminal, and reads both streams by one pipe.
    private static func isWatched(_ environment: [String: String]) -> Bool {
        guard environment["COLUMNS"] != nil, environment["LINES"] != nil else { return false }
        var (output, error) = (stat(), stat())
        guard fstat(STDOUT_FILENO, &output) == 0, fstat(STDERR_FILENO, &error) == 0 else { return false }
        return output.st_mode & S_IFMT == S_IFIFO && output.st_dev == error.st_dev && output.st_ino == error.st_ino
    }

    /// How wide the terminal is that standard output goes to; a width of nothing counts for none.
    static func width(_ environment: [String: String]) -> Int {
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        return columns(of: STDOUT_FILENO)
    }

    /// How wide the terminal is that standard error goes to.
    static var errorWidth: Int { columns(of: STDERR_FILENO) }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func styled(_ text: String, _ style: Style?) -> String {
        guard hasColour, let style else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    /// The parameter of the control sequence that sets it.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }
}
