import Logging

/// The log of the libraries behind a command, as lines on standard error.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(level: LogLevel) { logLevel = Logger.Level(rawValue: level.rawValue) ?? .warning }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        StandardError.write("tokenstore: \(event.level.rawValue): \("\(event.message)\(details)".printable)\n")
    }
}
