import Dispatch

extension TokenStore {
    /// Runs `body` away from the threads of Swift concurrency, which a disk write must not block.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async {
                continuation.resume(with: Swift.Result { try body(self) })
            }
        }
    }

    private static let queue = DispatchQueue(label: "tokenstore", attributes: .concurrent)
}
