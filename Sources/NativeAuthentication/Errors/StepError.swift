/// A step that did not succeed, with the state to go on from where there is one.
///
/// The flags of the error can be asked for directly: `error.isInvalidCode`.
@dynamicMemberLookup
public struct StepError<Kind: NativeAuthErrorKind, State: Sendable>: Error {
    public let error: NativeAuthError<Kind>

    /// The state to go on from; nil: the flow has ended, and is to be begun anew.
    public let state: State?

    init(_ error: NativeAuthError<Kind>, _ state: State?) {
        self.error = error
        self.state = state
    }

    public subscript<Value>(dynamicMember member: KeyPath<NativeAuthError<Kind>, Value>) -> Value {
        error[keyPath: member]
    }
}

extension StepError: CustomStringConvertible {
    public var description: String { error.description }
}
