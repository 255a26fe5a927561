import Foundation

extension Command {
    /// Runs it and waits for its end on a thread of its own, as a server in this process needs those of the pool.
    func runAside(in directory: ScratchDirectory) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(in: directory) }) }
        }
    }
}
