import Metrics

/// The counters, by their names in a metrics system.
struct TokenMetrics: Sendable {
    private let fromCache = Counter(label: "tokenstore.tokens.from_cache")
    private let refreshed = Counter(label: "tokenstore.tokens.refreshed")
    private let waited = Counter(label: "tokenstore.refresh.waited")
    private let throttled = Counter(label: "tokenstore.refresh.throttled")
    private let duration = Timer(label: "tokenstore.refresh.duration")

    func count(_ result: TokenResult) {
        switch result.source {
        case .cache: fromCache.increment()
        case .refresh: refreshed.increment()
        case .signIn: break
        }
    }

    func count(_ error: AcquisitionError) {
        if error.isThrottled { throttled.increment() }
        Counter(label: "tokenstore.tokens.failed", dimensions: [("reason", error.word)]).increment()
    }

    func countWaiting() { waited.increment() }

    func record(_ taken: Duration) {
        let (seconds, attoseconds) = taken.components
        duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
