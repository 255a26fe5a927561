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
        if !unseen.isEmpty { return unseen.removeFirst() }
        return await withCheckedContinuation { waiting = $0 }
    }
}
