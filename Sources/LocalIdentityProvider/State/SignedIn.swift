import Foundation

/// Who proved what, and when: what every token of one sign-in says of it.
struct SignedIn: Sendable {
    let userID: String
    let at: Date
    /// RFC 8176 values, such as `pwd`, `otp` and `mfa`.
    var methods: [String]
    /// The authentication context that a claims request asked for and the person met.
    var contexts: [String] = []

    var hasSecondFactor: Bool { methods.contains("mfa") }
}
