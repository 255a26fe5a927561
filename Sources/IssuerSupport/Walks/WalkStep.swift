import NativeAuthentication
import OAuth

/// The result of a step of a walk.
struct WalkStep {
    /// Where the walk stands now.
    let place: WalkState

    /// What went wrong; nil where the step succeeded.
    var failure: String?

    /// Whether the error does not say what to do.
    var lacksRemedy = false

    /// Whether other words of the person may succeed.
    var isCorrectable = false

    init(_ place: WalkState) { self.place = place }

    /// A step that failed without a state: the flow begins anew.
    init<Kind>(_ error: NativeAuthError<Kind>) {
        place = .start
        failure = error.description
        lacksRemedy = error.remedy == nil
    }

    /// A step that failed, and continues from the error's state if it has one.
    init<Kind, State>(_ error: StepError<Kind, State>, _ place: (State) -> WalkState) {
        self.place = error.state.map(place) ?? .start
        failure = error.description
        lacksRemedy = error.remedy == nil
        isCorrectable = error.state != nil && error.kind != Kind.generalError && error.kind != Kind.browserRequired
    }
}
