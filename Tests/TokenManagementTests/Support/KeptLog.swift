import Logging
import Synchronization

/// Every line that was logged, at any level.
final class KeptLog: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock(\.self) }
    var text: String { lines.joined(separator: "\n") }

    var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.kept.withLock { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
