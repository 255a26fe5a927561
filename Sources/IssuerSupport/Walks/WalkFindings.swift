import LocalIdentityProvider
import TestSupport

/// The results of walks through the state machine.
package struct WalkFindings: Sendable {
    package var walks = 0
    package var steps = 0
    package var faults = 0
    package var signIns = 0

    /// What must not happen, in words.
    package var problems: [String] = []

    /// Runs `count` random walks with faults at every step, each ending with a sign-in; `directory` holds the stores.
    ///
    /// The same seed takes the same walks, but for the codes and tokens of the issuer.
    package static func walks(_ count: Int, seed: UInt64, directory: String) async throws -> WalkFindings {
        var findings = WalkFindings()
        var generator = SeededGenerator(seed: seed)
        var number = 0
        while number < count {
            // A new provider now and then: one with many accounts grows slow.
            let ground = try await WalkFixture(directory: "\(directory)/walks-\(number)")
            for _ in 0..<min(groundSize, count - number) {
                number += 1
                var walk = Walk(number, on: ground, generator: SeededGenerator(seed: generator.next()))
                try await walk.run()
                findings.add(walk.findings, of: number)
            }
            await ground.provider.stop()
        }
        return findings
    }

    private static let groundSize = 100

    private mutating func add(_ other: WalkFindings, of number: Int) {
        walks += other.walks
        steps += other.steps
        faults += other.faults
        signIns += other.signIns
        problems += other.problems.map { "walk \(number): \($0)" }
    }
}
