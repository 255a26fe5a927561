import Foundation

/// Runs `body` on a new thread: a test that waits for a process must not block a thread that the process's server
/// needs.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

extension Command {
    /// Runs it and waits for its end.
    func runAside(in directory: ScratchDirectory) async throws -> Outcome {
        try await onOwnThread { try run(in: directory) }
    }
}
