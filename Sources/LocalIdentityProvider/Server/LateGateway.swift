import Hummingbird

/// Answers through the gateway once there is one.
struct LateGateway: HTTPResponder {
    let state: LateState

    func respond(to request: Request, context: Connection) async throws -> Response {
        guard let state = state.value else { return Response(status: .serviceUnavailable) }
        return try await Gateway(state: state).respond(to: request, context: context)
    }
}
