import Foundation

/// What the provider knows of browsers: who is signed in there, and journeys through the pages.
actor Browsers {
    /// The people signed in at one browser, most recent first.
    private struct Session {
        var accounts: [(tenantID: String, signedIn: SignedIn)] = []
        var expires: Date
    }

    private let clock: ProviderClock
    private let outbox: Outbox
    private var sessions: [Fingerprint: Session] = [:]
    private var interactions: [Fingerprint: Interaction] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    // MARK: Sessions

    func accounts(_ cookie: String?, in tenant: Tenant) -> [SignedIn] {
        guard let cookie, let session = sessions[Fingerprint(cookie)], clock.now < session.expires else { return [] }
        return session.accounts.filter { $0.tenantID == tenant.id }.map(\.signedIn)
    }

    /// Remembers a sign-in under a new cookie value, so that a value fixed beforehand is worth nothing.
    func remember(_ signedIn: SignedIn, in tenant: Tenant, cookie: String) -> String {
        var session = sessions.removeValue(forKey: Fingerprint(cookie)) ?? Session(expires: clock.now)
        session.accounts.removeAll { $0.tenantID == tenant.id && $0.signedIn.userID == signedIn.userID }
        session.accounts.insert((tenant.id, signedIn), at: 0)
        session.expires = clock.now + TimeInterval(Lifetime.browserSession)
        let renewed = RandomToken.make()
        sessions[Fingerprint(renewed)] = session
        return renewed
    }

    func forget(_ cookie: String, in tenant: Tenant) {
        sessions[Fingerprint(cookie)]?.accounts.removeAll { $0.tenantID == tenant.id }
    }

    // MARK: Interactions

    func begin(_ goal: Interaction.Goal, step: Interaction.Step, realm: Realm, client: Client?, cookie: String)
        -> Interaction
    {
        interactions = interactions.filter { $0.value.expires > clock.now }
        let interaction = Interaction(
            id: RandomToken.make(),
            browser: Fingerprint(cookie),
            realm: realm,
            client: client,
            goal: goal,
            step: step,
            expires: clock.now + TimeInterval(Lifetime.flow)
        )
        interactions[Fingerprint(interaction.id)] = interaction
        return interaction
    }

    /// The journey that a form belongs to; another browser cannot post to it.
    func interaction(_ id: String, cookie: String?) throws -> Interaction {
        guard let cookie, let interaction = interactions[Fingerprint(id)], clock.now < interaction.expires,
            interaction.browser == Fingerprint(cookie)
        else { throw ProtocolError.expiredToken }
        return interaction
    }

    func update(_ interaction: Interaction) { interactions[Fingerprint(interaction.id)] = interaction }

    /// Ends a journey; false when another request did so first.
    func end(_ interaction: Interaction) -> Bool {
        interactions.removeValue(forKey: Fingerprint(interaction.id)) != nil
    }

    // MARK: Codes

    func sendCode(_ interaction: Interaction, to method: AuthMethod, purpose: String) throws -> Interaction {
        var interaction = interaction
        try interaction.codes.send(to: method, purpose: purpose, by: outbox, now: clock.now)
        update(interaction)
        return interaction
    }

    func checkCode(_ code: String, of interaction: Interaction) throws {
        let fingerprint = Fingerprint(interaction.id)
        // A journey that ended meanwhile accepts nothing.
        guard try interactions[fingerprint]?.codes.check(code, now: clock.now) != nil else {
            throw ProtocolError.wrongCode
        }
        interactions[fingerprint]?.codes.forget()
    }
}
