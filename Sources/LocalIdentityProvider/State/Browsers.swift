import Foundation

/// What the provider knows of browsers: who is signed in there, and journeys through the pages.
actor Browsers {
    /// The people signed in at one browser, most recent first.
    private struct Session {
        var accounts: [(tenantID: String, signedIn: SignedIn)] = []
        var expires: Date
    }

    private let clock: ProviderClock
    private var sessions: [Fingerprint: Session] = [:]
    private var interactions: [Fingerprint: Interaction] = [:]

    init(clock: ProviderClock) { self.clock = clock }

    // MARK: Sessions

    func accounts(_ cookie: String?, in tenant: Tenant) -> [SignedIn] {
        guard let cookie, let session = sessions[Fingerprint(cookie)], clock.now < session.expires else { return [] }
        return session.accounts.filter { $0.tenantID == tenant.id }.map(\.signedIn)
    }

    /// Remembers a sign-in under a new cookie value, so that a value fixed beforehand is worth nothing.
    func remember(_ signedIn: SignedIn, in tenant: Tenant, cookie: String?) -> String {
        var session = sessions.removeValue(forKey: Fingerprint(cookie ?? "")) ?? Session(expires: clock.now)
        session.accounts.removeAll { $0.tenantID == tenant.id && $0.signedIn.userID == signedIn.userID }
        session.accounts.insert((tenant.id, signedIn), at: 0)
        session.expires = clock.now + Lifetime.browserSession
        let renewed = RandomToken.make()
        sessions[Fingerprint(renewed)] = session
        return renewed
    }

    /// Signs one person out of a tenant in this browser, or everyone if `userID` is nil.
    ///
    /// - Returns: whether no one is signed in there any more, in any tenant.
    func forget(_ cookie: String, in tenant: Tenant, userID: String?) -> Bool {
        let key = Fingerprint(cookie)
        sessions[key]?.accounts.removeAll { account in
            account.tenantID == tenant.id && account.signedIn.userID == userID ?? account.signedIn.userID
        }
        guard sessions[key]?.accounts.isEmpty ?? true else { return false }
        sessions[key] = nil
        return true
    }

    // MARK: Interactions

    func begin(_ interaction: Interaction) {
        interactions = interactions.filter { $0.value.expires > clock.now }
        update(interaction)
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
}

/// One journey through the pages, from the request that opened it to its end.
struct Interaction: Sendable {
    enum Goal: Sendable {
        case authorize(AuthorizationParameters)
        /// The device code may still be unknown.
        case device(userCode: String?)
        case logout(LogoutRequest)
    }

    enum Step: Sendable {
        case signIn
        /// The page of another identity provider, which this one stands in for.
        case federated(String)
        case chooseAccount([User])
        case code(SecondFactorMethod, CodePurpose)
        case signUp
        case resetAddress
        case resetPassword(userID: String)
        case editProfile(SignedIn)
        case consent(SignedIn, [String])
        case deviceCode
        case approveDevice(SignedIn)
        case signOut

        /// Who signed in on the way to this page.
        var signedIn: SignedIn? {
            switch self {
            case .editProfile(let signedIn), .consent(let signedIn, _), .approveDevice(let signedIn),
                .code(_, .secondFactor(let signedIn)):
                signedIn
            default: nil
            }
        }
    }

    enum CodePurpose: Sendable {
        case signIn(userID: String)
        case secondFactor(SignedIn)
        case signUp(email: String, password: PasswordHash?, attributes: [String: String])
        case resetPassword(userID: String)

        var name: String {
            switch self {
            case .signIn: "sign-in"
            case .secondFactor: "second factor"
            case .signUp: "sign-up"
            case .resetPassword: "password reset"
            }
        }
    }

    let id = RandomToken.make()
    /// Binds the journey to the browser that began it.
    let browser: Fingerprint
    let realm: Realm
    let client: Client?
    let goal: Goal
    var step: Step
    let expires: Date
}
