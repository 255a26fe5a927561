import HTTPTransport
import TokenManagement

extension CommandFailure {
    /// Why there is no token.
    init(_ error: AcquisitionError) {
        let status: ExitStatus =
            if error.needsInteraction || error.isTooShort {
                .interactionRequired
            } else if error.isOutage {
                .network
            } else {
                .failure
            }
        self.init(status, sentence: error.description)
    }
}

extension AcquisitionError {
    /// A new session may get a longer token, where the issuer ends the token with the session.
    fileprivate var isTooShort: Bool {
        if case .tooShort = self { true } else { false }
    }
}
