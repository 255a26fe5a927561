import Foundation

/// The codes sent on one way, of which the newest counts; none is kept in clear.
struct OneTimeCodes: Sendable {
    static let maximumAttempts = 5
    static let maximumSent = 6

    private var newest: (fingerprint: Fingerprint, expires: Date)?
    private var attempts = 0
    private var sent = 0

    /// Delivers a code, which voids the ones before it.
    mutating func send(to method: AuthMethod, purpose: String, by outbox: Outbox, now: Date) throws {
        guard sent < Self.maximumSent else { throw ProtocolError.tooManyCodes }
        let code = RandomToken.digits()
        newest = (Fingerprint(code), now + TimeInterval(Lifetime.oneTimeCode))
        attempts = 0
        sent += 1
        outbox.deliver(code, to: method, purpose: purpose, at: now)
    }

    /// Counts one attempt; after five wrong ones the right code fails too.
    mutating func check(_ code: String, now: Date) throws {
        guard attempts < Self.maximumAttempts, let newest, now < newest.expires else { throw ProtocolError.wrongCode }
        guard newest.fingerprint == Fingerprint(code) else {
            attempts += 1
            throw ProtocolError.wrongCode
        }
    }

    mutating func forget() { newest = nil }
}
