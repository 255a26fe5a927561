import Crypto
import Foundation

/// A code that was sent, without the code itself.
struct OneTimeCode: Sendable {
    static let maximumAttempts = 5

    private let fingerprint: Fingerprint
    private let expires: Date
    private var attempts = 0

    init(_ code: String, key: SymmetricKey, now: Date) {
        fingerprint = Fingerprint(code, key: key)
        expires = now + TimeInterval(Lifetime.oneTimeCode)
    }

    /// Counts one attempt; after five wrong ones the right code fails too.
    mutating func accepts(_ code: String, key: SymmetricKey, now: Date) -> Bool {
        guard attempts < Self.maximumAttempts, now < expires else { return false }
        guard fingerprint == Fingerprint(code, key: key) else {
            attempts += 1
            return false
        }
        return true
    }
}
