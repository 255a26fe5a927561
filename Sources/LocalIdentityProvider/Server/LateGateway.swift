import Hummingbird
import Synchronization

/// Answers once there is a state, which needs the port and so comes after the listener.
final class LateGateway: HTTPResponder {
    private let state = Mutex<ProviderState?>(nil)

    func open(_ state: ProviderState) { self.state.withLock { $0 = state } }

    func respond(to request: Request, context: Connection) async throws -> Response {
        guard let state = state.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        return try await Gateway(state: state).respond(to: request, context: context)
    }
}
