import HTTPTransport
import IssuerSupport
import TokenStorage

/// Random walks through the flows of native authentication, with faults at every step: nobody is stuck, and no account
/// is stored by halves.
enum WalksBar: Bar {
    static let name = "WALKS"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let count = bench.count(name, full: 10_000, quick: 100)
        let directory = try bench.place("walks").directory
        let found = try AsynchronousWork.run {
            try await WalkFindings.walks(count, seed: 6, directory: directory)
        }
        for problem in found.problems.prefix(10) { Findings.explain(problem) }
        let work = "random walks (\(found.steps) steps, \(found.faults) faults, \(found.signIns) sign-ins): problems"
        add(ReportRow(name, work, failures: found.problems.count, of: found.walks))
    }
}
