import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
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
    func time(_ epoch: Int64?) -> String {
        guard let instant = Timestamp(epoch) else { return "-" }
        return terminal.isTerminal ? RelativeTime(instant, from: now).description : instant.description
    }
}
