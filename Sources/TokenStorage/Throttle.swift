package import OAuth

/// A request that is not to be repeated for a while, and the failure that it would meet.
package struct Throttle: Hashable, Sendable {
    /// Unix seconds.
    package let endsAt: Int64

    /// What the issuer answered, as whoever recorded it wrote it.
    package let failure: JSON.Object

    package init(endsAt: Int64, failure: JSON.Object) {
        self.endsAt = endsAt
        self.failure = failure
    }
}
