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
    let now = Int64(Date().timeIntervalSince1970)

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
    func note(_ text: String) {
        if !isQuiet { StandardError.write("tokenstore: \(text.bounded.printable)\n") }
    }

    /// Says that the store has not got the new tokens yet.
    func notePending(_ reason: String) {
        note("the issuer's answer is kept in a file beside the store, and stored by the next command: \(reason)")
    }

    func log(_ level: LogLevel, _ text: @autoclosure () -> String) {
        guard level >= logLevel else { return }
        StandardError.write("tokenstore: \(level.rawValue): \(text().bounded.printable)\n")
    }

    /// How far away on a terminal, where a person reads it; else the instant itself.
    func time(_ date: Date?) -> String {
        guard let instant = Timestamp(date) else { return "-" }
        return terminal.isTerminal ? RelativeTime(instant, from: now).description : instant.description
    }
}

/// What standard output can show: nil for `width` and no colour unless it is a terminal.
struct Terminal {
    let width: Int?
    private let hasColour: Bool

    var isTerminal: Bool { width != nil }

    init(isPlain: Bool, environment: [String: String]) {
        guard isatty(STDOUT_FILENO) == 1 else {
            width = nil
            hasColour = false
            return
        }
        width = Self.width(environment)
        let isColourRefused = isPlain || environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        hasColour = !isColourRefused && environment["TERM"] != "dumb" && environment["TERM"] != nil
    }

    private static func width(_ environment: [String: String]) -> Int {
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
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

/// One line on standard error about work that takes longer than a second, on a terminal only.
final class ProgressLine {
    private let verb: String
    private let isShown: Bool
    private let start = ContinuousClock.now
    private var last: ContinuousClock.Instant?

    init(_ verb: String, _ console: Console) {
        self.verb = verb
        isShown = StandardError.isTerminal && !console.isQuiet
    }

    /// Runs `body` with a function to report to, and takes the line away afterwards.
    func showing<Result>(_ body: (((TokenStore.Progress) -> Void)?) throws -> Result) rethrows -> Result {
        defer { if last != nil { StandardError.write("\r\u{1B}[K") } }
        return try body(isShown ? { self.update($0) } : nil)
    }

    private func update(_ progress: TokenStore.Progress) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(1), last.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
        last = now
        let total = progress.total.map { " of \($0)" } ?? ""
        StandardError.write("\r\(verb): \(progress.done)\(total) \(progress.unit)\u{1B}[K")
    }
}
