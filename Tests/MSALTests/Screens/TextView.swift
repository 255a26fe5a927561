/// A view that shows text, for a caller that waits to see it.
@MainActor
final class TextView {
    private var unseen: [String] = []
    private var waiting: CheckedContinuation<String, Never>?

    var text: String? {
        didSet {
            let text = text ?? ""
            if let waiting {
                self.waiting = nil
                waiting.resume(returning: text)
            } else {
                unseen.append(text)
            }
        }
    }

    /// The next text that was not returned before.
    func next() async -> String {
        // Looked at here: a task with an executor of its own gives way between a look before the wait, and the wait.
        await withCheckedContinuation { continuation in
            if unseen.isEmpty { waiting = continuation } else { continuation.resume(returning: unseen.removeFirst()) }
        }
    }
}
