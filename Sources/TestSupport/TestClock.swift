public import Foundation
import Synchronization

/// A clock that stands still until a test moves it.
public final class TestClock: Sendable {
    private let time: Mutex<Int64>

    public init(_ seconds: Int64 = Fixture.now) { time = Mutex(seconds) }

    /// Unix seconds.
    public var seconds: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    public var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
