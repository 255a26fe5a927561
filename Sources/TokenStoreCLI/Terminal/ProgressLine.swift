import CProcess
import OAuth
import Synchronization
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work that may take longer than a second: on a terminal one line on standard error says how far it is, and a signal
/// that is to end the program ends the work first, so that the program can say what became of it.
final class ProgressLine: Sendable {
    private struct State {
        var progress: TokenStore.Progress?
        var phaseStart = ContinuousClock.now
    }

    /// The line of the terminal, which a question takes for itself.
    private struct Line {
        var isShown = false
        var isTaken = false

        mutating func clear() {
            if isShown { StandardError.write("\r\u{1B}[K") }
            isShown = false
        }
    }

    private static let line = LockedValue(Line())

    /// Runs `question`, which a person is to read and answer, with no line over it.
    static func makingWay<Result>(for question: () throws -> Result) rethrows -> Result {
        line.withLock { line in
            line.clear()
            line.isTaken = true
        }
        defer { line.withLock { $0.isTaken = false } }
        return try question()
    }

    /// Whether a signal that is to end the program has come while work is under way.
    static var isInterrupted: Bool { signalHasCome.load(ordering: .relaxed) }

    private let verb: String
    private let isWanted: Bool
    private let interruption: @Sendable (TokenStore.Progress) -> CommandFailure
    private let start = ContinuousClock.now
    private let state = LockedValue(State())

    /// Work that is called `verb`; where it is interrupted, `kept` says what became of it.
    init(
        _ verb: String,
        _ console: Console,
        kept: @escaping @Sendable (TokenStore.Progress) -> (String, advice: String)
    ) {
        self.verb = verb
        isWanted = StandardError.isTerminal && !console.isQuiet
        interruption = { Self.interruption(kept($0)) }
    }

    /// The error of work that a signal has ended, with what became of it.
    static func interruption(_ kept: (String, advice: String)) -> CommandFailure {
        CommandFailure(.interrupted, "interrupted, and \(kept.0)", kept.advice)
    }

    /// Runs `body` with a function to report to, and takes the line away afterwards.
    func showing<Result>(_ body: (@escaping TokenStore.ProgressHandler) throws -> Result) rethrows -> Result {
        let signals = HeldSignals()
        let painter = isWanted ? Task.detached { await self.paintOnAndOn() } : nil
        defer {
            painter?.cancel()
            Self.line.withLock { $0.clear() }
            signals.release()
        }
        return try body { progress in
            self.take(progress)
            if signals.haveCome { throw self.interruption(progress) }
        }
    }

    private func take(_ progress: TokenStore.Progress) {
        guard isWanted else { return }
        state.withLock { state in
            if state.progress?.unit != progress.unit { state.phaseStart = .now }
            state.progress = progress
        }
    }

    private func paintOnAndOn() async {
        do {
            try await Task.sleep(for: .seconds(1))
            while true {
                paint()
                try await Task.sleep(for: .milliseconds(200))
            }
        } catch {
            // The work is done.
        }
    }

    private func paint() {
        let now = ContinuousClock.now
        // Work that waits for another process, or for a server, looks for no signal until it has its turn.
        let text =
            signalHasCome.load(ordering: .relaxed)
            ? "\(verb): waits for others to end; Ctrl-C again ends it at once"
            : state.withLock { Self.text(verb, $0.progress, total: now - start, phase: now - $0.phaseStart) }
        Self.line.withLock { line in
            guard !Task.isCancelled, !line.isTaken else { return }
            line.isShown = true
            StandardError.write("\r\(text.truncated(to: Terminal.errorWidth - 1))\u{1B}[K")
        }
    }

    /// Such as `importing: 12,345 of 500,000 entries, 2 %, 40 s left`.
    static func text(_ verb: String, _ progress: TokenStore.Progress?, total: Duration, phase: Duration) -> String {
        let spent = "\(total.components.seconds) s so far"
        guard let progress else { return "\(verb): \(spent)" }
        let isBytes = progress.unit == "bytes"
        let unit = isBytes ? "MB" : progress.unit
        func count(_ number: Int) -> String { (isBytes ? number / 1_000_000 : number).grouped }
        guard let total = progress.total, total > 0 else { return "\(verb): \(count(progress.done)) \(unit), \(spent)" }
        let (done, percent) = (Double(progress.done), progress.done * 100 / total)
        let counted = "\(verb): \(count(progress.done)) of \(count(total)) \(unit), \(percent) %"
        guard progress.done < total else { return "\(counted), writing to the disk" }
        guard progress.done > 0 else { return "\(counted), \(spent)" }
        let seconds = Double(phase.components.seconds) + Double(phase.components.attoseconds) / 1e18
        let left = Int((seconds * (Double(total) - done) / done).rounded(.up))
        return "\(counted), \(left < 120 ? "\(left) s" : "\(left / 60) min") left"
    }
}

/// The signals that end the program, held back while work is under way that looks for them; a second one ends it.
private struct HeldSignals {
    private let numbers: [Int32]

    /// Known as soon as the signal has reached the program: work that ends in the same moment must not outrun it.
    var haveCome: Bool { signalHasCome.load(ordering: .relaxed) }

    init() {
        signalHasCome.store(false, ordering: .relaxed)
        // One that the program was started without, as by nohup, stays without effect.
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !IgnoredSignals.atStart.contains($0) }
        for number in numbers { signal(number, noteSignal) }
    }

    func release() {
        for number in numbers { signal(number, SIG_DFL) }
        signalHasCome.store(false, ordering: .relaxed)
    }
}

private let signalHasCome = Atomic(false)

/// Does only what a signal handler may.
private let noteSignal: @convention(c) (Int32) -> Void = { number in
    guard signalHasCome.exchange(true, ordering: .relaxed) else { return }
    CProcessEnd(number)
}
