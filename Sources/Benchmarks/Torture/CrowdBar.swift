import TokenStorage

/// Many processes sign in at once.
enum CrowdBar: Bar {
    static let name = "R4"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let processes = bench.count(name, full: 128, quick: 16)
        let path = try bench.place("crowd")
        let store = try TokenStore.open(at: path)
        let children = (0..<processes).map { ChildProcess.this("sign-in", path.database, "\(2 * $0)", "2") }
        let failed = try Gate.run(children)
        let missing = try (0..<2 * processes).count { number in
            guard case .usable = try store.cachedToken(for: SampleAccount(number).query()) else { return true }
            return false
        }
        let problems = try store.check().count
        let work = "\(processes) processes × 2 sign-ins at once"
        let peer = try bench.msal?.crowd(bench, processes: processes)
        var stored = ReportRow(name, work + ": not stored", failures: missing + problems, of: 2 * processes)
        stored.peers = [PeerFigure(bench.msal, "", failures: peer?.missing, of: 2 * processes)]
        add(stored)
        var ended = ReportRow(name, work + ": processes that failed", failures: failed, of: processes)
        ended.peers = [PeerFigure(bench.msal, "", failures: peer?.failed, of: processes)]
        add(ended)
    }
}
