import HTTPTransport
import TokenManagement

extension CommandFailure {
    /// Why there is no token.
    init(_ error: AcquisitionError) {
        let status: ExitStatus =
            if error.needsInteraction {
                .interactionRequired
            } else if error.isOutage {
                .network
            } else {
                .failure
            }
        self.init(status, sentence: error.description)
    }
}
