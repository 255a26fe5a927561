/// Requests that one refresh can answer: those that differ only in how a caller waits, and in whether fewer scopes will do,
/// which is judged for each caller when the answer is there.
package struct FlightKey: Hashable {
    private let request: SilentRequest
    private let clientID: String

    /// All of the request is in it, so that no field that changes the answer can be forgotten.
    package init(_ request: SilentRequest, clientID: String) {
        var request = request
        request.loginHint = nil
        request.timeout = .zero
        request.requiresAllScopes = false
        self.request = request
        self.clientID = clientID
    }
}
