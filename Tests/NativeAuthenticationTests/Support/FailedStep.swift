import NativeAuthentication

/// The error of a step, and the way the flow continues.
struct FailedStep {
    let kind: String
    let description: String
    let hasRemedy: Bool

    /// Goes on to the end; nil where the error has no state.
    let goOn: (() async throws -> Void)?

    init<Kind, State>(_ error: StepError<Kind, State>, _ goOn: @escaping (State) async throws -> Void) {
        kind = "\(error.kind)"
        description = error.description
        hasRemedy = error.remedy != nil
        self.goOn = error.state.map { state in { try await goOn(state) } }
    }
}
