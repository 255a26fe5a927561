// UIKit, as far as the guides use it, with its implicitly unwrapped texts.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import Foundation

@MainActor
open class UIViewController: NSObject {
    public override init() {}

    open func viewDidLoad() {}
}

@MainActor
public final class UIButton {}

@MainActor
public final class UITextField {
    public var text: String?
}

/// A view that shows text, for a caller that waits to see it.
@MainActor
public final class UITextView {
    private var unseen: [String] = []
    private var waiting: CheckedContinuation<String, Never>?

    public init() {}

    public var text: String! {
        didSet {
            let text = self.text ?? ""
            if let waiting = waiting {
                self.waiting = nil
                waiting.resume(returning: text)
            } else {
                unseen.append(text)
            }
        }
    }

    /// The next text that was not returned before.
    public func next() async -> String {
        // Looked at here: a task with an executor of its own gives way between a look before the wait, and the wait.
        await withCheckedContinuation { continuation in
            if unseen.isEmpty { waiting = continuation } else { continuation.resume(returning: unseen.removeFirst()) }
        }
    }
}
