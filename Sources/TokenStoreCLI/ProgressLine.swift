import TokenStorage

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
    func showing<Result>(_ body: (((TokenStorage.Progress) -> Void)?) throws -> Result) rethrows -> Result {
        defer { if last != nil { StandardError.write("\r\u{1B}[K") } }
        return try body(isShown ? { self.update($0) } : nil)
    }

    private func update(_ progress: TokenStorage.Progress) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(1), last.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
        last = now
        let total = progress.total.map { " of \($0)" } ?? ""
        StandardError.write("\r\(verb): \(progress.done)\(total) \(progress.unit)\u{1B}[K")
    }
}
