import OAuth

/// Requests that one refresh can answer.
struct FlightKey: Hashable {
    let account: Account.ID
    let clientID: String
    let scope: String
    let authority: Authority?
    let claims: JSON?
    let tokenType: String
    let keyID: String?

    init(_ request: SilentRequest, clientID: String) {
        account = request.account
        self.clientID = clientID
        scope = request.scope.foldedText
        authority = request.authority
        claims = request.claims
        tokenType = request.tokenType
        keyID = request.keyID
    }
}
