/// What became of processes that asked for one expired token at once, round after round.
struct RaceOutcome {
    static let processes = 64
    static let issuerMilliseconds = 150
    static let work = "\(processes) processes ask for one expired token"

    /// From the start until the last process has ended.
    private(set) var seconds: [Double] = []
    private(set) var asked = 0
    private(set) var failed = 0

    /// Requests beyond one a round.
    private(set) var surplus = 0

    var rounds: Int { seconds.count }

    mutating func add(seconds: Double, processes: Int, failed: Int, requests: Int) {
        self.seconds.append(seconds)
        asked += processes
        self.failed += failed
        surplus += requests - 1
    }
}
