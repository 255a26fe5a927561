import Foundation

/// The one-time codes of every flow and journey; none is kept in clear (L05).
actor OneTimeCodes {
    private struct Sent {
        var newest: Fingerprint?
        var expires: Date
        var count = 0
        var attempts = 0
    }

    private let clock: ProviderClock
    private let outbox: Outbox
    private var sent: [String: Sent] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    /// Delivers a code for the flow, at most six times; it voids the ones before it.
    func send(_ flowID: String, to method: AuthMethod, purpose: String) throws {
        if sent.count.isMultiple(of: 1024) { sent = sent.filter { $0.value.expires + Lifetime.flow > clock.now } }
        let count = (sent[flowID]?.count ?? 0) + 1
        guard count <= 6 else { throw ProtocolError.tooManyCodes }
        let code = RandomToken.digits()
        sent[flowID] = Sent(newest: Fingerprint(code), expires: clock.now + Lifetime.oneTimeCode, count: count)
        outbox.deliver(code, to: method, purpose: purpose, at: clock.now)
    }

    /// Counts one attempt; after five wrong ones the right code fails too.
    func check(_ code: String, of flowID: String) throws {
        guard let now = sent[flowID], let newest = now.newest, now.attempts < 5, clock.now < now.expires else {
            throw ProtocolError.wrongCode
        }
        guard newest == Fingerprint(code) else {
            sent[flowID]?.attempts += 1
            throw ProtocolError.wrongCode
        }
    }

    /// Voids what was sent, once it has served.
    func forget(_ flowID: String) { sent[flowID]?.newest = nil }
}
