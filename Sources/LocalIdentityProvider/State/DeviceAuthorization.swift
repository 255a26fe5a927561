import Foundation

/// A device waiting for a person elsewhere (RFC 8628).
struct DeviceAuthorization: Sendable {
    enum Decision: Sendable {
        case pending
        case approved(SignedIn)
        case denied
    }

    let holder: Holder
    let scope: String
    let userCode: String
    let expires: Date
    var interval = Lifetime.devicePollInterval
    var lastPoll: Date?
    var decision = Decision.pending
}
