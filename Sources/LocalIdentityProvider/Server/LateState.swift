import Synchronization

/// The state, which needs the port and so comes after the listener.
final class LateState: Sendable {
    private let state = Mutex<ProviderState?>(nil)

    func set(_ state: ProviderState) { self.state.withLock { $0 = state } }

    var value: ProviderState? { state.withLock { $0 } }
}
