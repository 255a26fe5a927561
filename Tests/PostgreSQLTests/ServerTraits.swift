import TestSupport
import Testing

/// Runs each test on a thread of its own, as the calls of the binding block theirs.
struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThread()) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    static var onOwnThread: Self { OwnThreadTrait() }
}
