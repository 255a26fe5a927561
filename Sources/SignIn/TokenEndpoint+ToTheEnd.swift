import OAuth
import OpenIDConnect

extension TokenEndpoint {
    /// Sends a request whose answer is waited for when the task is cancelled, as nothing else could revoke the tokens
    /// that come; but for `patience` at most.
    ///
    /// The transport must end by itself: see `BoundedTransport`.
    ///
    /// - Throws: what ``send(_:_:now:)`` throws, or `CancellationError` where the task has been cancelled.
    func sendToTheEnd(
        _ grant: Grant,
        _ form: FormParameters,
        now: Int64,
        patience: Duration
    ) async throws -> TokenEndpointAnswer {
        try Task.checkCancellation()
        let sending = Task { try await send(grant, form, now: now) }
        do {
            return try await withTaskCancellationHandler {
                try await sending.value
            } onCancel: {
                Task {
                    try await Task.sleep(for: patience)
                    sending.cancel()
                }
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }
}
