package import OAuth

/// A request that is not to be repeated for a while, and the failure that it would meet.
package struct Throttle: Hashable, Sendable {
    /// No request is held back for longer, in seconds, whatever an issuer asks for.
    package static let longest: Int64 = 3_600

    /// Unix seconds.
    package let beganAt: Int64
    package let endsAt: Int64

    /// What the issuer answered, as whoever recorded it wrote it.
    package let failure: JSON.Object

    package init(beganAt: Int64, endsAt: Int64, failure: JSON.Object) {
        self.beganAt = beganAt
        self.endsAt = endsAt
        self.failure = failure
    }
}
