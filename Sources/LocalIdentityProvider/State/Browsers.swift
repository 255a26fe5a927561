import Crypto
import Foundation

/// What the provider knows of browsers: who is signed in there, and journeys through the pages.
actor Browsers {
    private let clock: ProviderClock
    private let outbox: Outbox
    private let key = SymmetricKey(size: .bits256)
    private var sessions: [Fingerprint: BrowserSession] = [:]
    private var interactions: [Fingerprint: Interaction] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    // MARK: Sessions

    func accounts(_ cookie: String?, in tenant: Tenant) -> [SignedIn] {
        guard let cookie, let session = sessions[Fingerprint(cookie, key: key)], clock.now < session.expires else {
            return []
        }
        return session.accounts.filter { $0.tenantID == tenant.id }.map(\.signedIn)
    }

    /// Remembers a sign-in under a new cookie value, so that a value fixed beforehand is worth nothing.
    func remember(_ signedIn: SignedIn, in tenant: Tenant, cookie: String) -> String {
        var session = sessions.removeValue(forKey: Fingerprint(cookie, key: key)) ?? BrowserSession(expires: clock.now)
        session.accounts.removeAll { $0.tenantID == tenant.id && $0.signedIn.userID == signedIn.userID }
        session.accounts.insert(.init(tenantID: tenant.id, signedIn: signedIn), at: 0)
        session.expires = clock.now + TimeInterval(Lifetime.browserSession)
        let renewed = RandomToken.make()
        sessions[Fingerprint(renewed, key: key)] = session
        return renewed
    }

    func forget(_ cookie: String, in tenant: Tenant) {
        sessions[Fingerprint(cookie, key: key)]?.accounts.removeAll { $0.tenantID == tenant.id }
    }

    // MARK: Interactions

    func begin(_ goal: Interaction.Goal, step: Interaction.Step, realm: Realm, client: Client?, cookie: String)
        -> Interaction
    {
        interactions = interactions.filter { $0.value.expires > clock.now }
        let interaction = Interaction(
            id: RandomToken.make(),
            browser: Fingerprint(cookie, key: key),
            realm: realm,
            client: client,
            goal: goal,
            step: step,
            expires: clock.now + TimeInterval(Lifetime.flow)
        )
        interactions[Fingerprint(interaction.id, key: key)] = interaction
        return interaction
    }

    /// The journey that a form belongs to; another browser cannot post to it.
    func interaction(_ id: String, cookie: String?) throws -> Interaction {
        guard let cookie, let interaction = interactions[Fingerprint(id, key: key)], clock.now < interaction.expires,
            interaction.browser == Fingerprint(cookie, key: key)
        else { throw ProtocolError.expiredToken }
        return interaction
    }

    func update(_ interaction: Interaction) { interactions[Fingerprint(interaction.id, key: key)] = interaction }

    /// Ends a journey; false when another request did so first.
    func end(_ interaction: Interaction) -> Bool {
        interactions.removeValue(forKey: Fingerprint(interaction.id, key: key)) != nil
    }

    // MARK: Codes

    func sendCode(_ interaction: Interaction, to target: String, channel: String, purpose: String) throws -> Interaction
    {
        var interaction = interaction
        guard interaction.sentCodes <= 5 else {
            throw ProtocolError.invalidRequest(ErrorNumber.tooManyCodes, "Too many codes were sent. Start again.")
        }
        let code = RandomToken.digits()
        interaction.code = OneTimeCode(code, key: key, now: clock.now)
        interaction.sentCodes += 1
        outbox.deliver(code, to: target, channel: channel, purpose: purpose, at: clock.now)
        update(interaction)
        return interaction
    }

    func checkCode(_ code: String, of interaction: Interaction) throws {
        let fingerprint = Fingerprint(interaction.id, key: key)
        guard interactions[fingerprint]?.code?.accepts(code, key: key, now: clock.now) == true else {
            throw ProtocolError.wrongCode
        }
        interactions[fingerprint]?.code = nil
    }
}
