import NativeAuthentication

/// What a step ended with, and how the flow goes on from there.
struct FailedStep {
    let kind: String
    let description: String

    /// Goes on to the end; nil where the error has no state.
    let goOn: (() async throws -> Void)?

    init<Kind, State>(_ error: StepError<Kind, State>, _ goOn: @escaping (State) async throws -> Void) {
        kind = "\(error.kind)"
        description = error.description
        self.goOn = error.state.map { state in { try await goOn(state) } }
    }
}
