import Foundation

/// Runs `body` on a thread of its own: what waits for a process must not take a thread from the server that the process
/// talks to.
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
