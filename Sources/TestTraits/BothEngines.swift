#if canImport(Testing)
import TestSupport
package import Testing

/// Runs each test twice: with a store that is a file, and with one on a PostgreSQL server.
///
/// Like ``WaitingThreadsTrait``, a few at a time, on threads that may wait.
/// Without a server installed the second run is left out; the tests that are about servers say so.
package struct BothEnginesTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let isAboutFiles = test.traits.contains { $0 is AboutFilesTrait }
        try await TestPlaces.shared.run {
            for engine in StoreEngine.allCases where engine == .file || engine.isInstalled && !isAboutFiles {
                await StoreEngine.$current.withValue(engine) {
                    do {
                        try await function()
                    } catch {
                        Issue.record(error, "with a store on a \(engine.rawValue)")
                    }
                }
            }
        }
    }
}

/// Leaves a suite, or a test of one that runs on both engines, to files: it looks into them, or is about what only they
/// have.
package struct AboutFilesTrait: PlacedTrait {
    package let isRecursive = true
    package let reason: String
}

extension Trait where Self == AboutFilesTrait {
    /// Runs the tests with a file alone, for this reason.
    package static func aboutFiles(_ reason: String) -> Self { AboutFilesTrait(reason: reason) }
}

extension Trait where Self == BothEnginesTrait {
    /// Runs each test with a file, and again with a server.
    package static var onBothEngines: Self { BothEnginesTrait() }
}
#endif
