import Logging
import Synchronization

/// Everything that is logged, at every level.
final class LogRecord: Sendable {
    private let written = Mutex<[String]>([])

    /// Each as its level, the message and the metadata.
    var lines: [String] { written.withLock(\.self) }

    var logger: Logger {
        var logger = Logger(label: "tests") { _ in Handler(record: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let record: LogRecord
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            record.written.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
