import Foundation

/// The people of every tenant, their passwords, attributes, methods and consents.
actor Users {
    private let clock: ProviderClock
    private var users: [String: User] = [:]
    private var ids: [String: String] = [:]
    /// The people of a tenant who sign in at another provider; no endpoint finds them by their address.
    private var federated: [String: [String]] = [:]
    private var consents: [String: Set<String>] = [:]

    init(_ seed: Seed, clock: ProviderClock) throws {
        self.clock = clock
        for tenant in seed.tenants {
            for person in tenant.users {
                let user = try User(person)
                users[user.id] = user
                if let provider = user.identityProvider {
                    federated[Self.key(provider, tenant), default: []].append(user.id)
                } else {
                    ids[Self.key(user.email, tenant)] = user.id
                }
            }
        }
    }

    private static func key(_ name: String, _ tenant: Tenant) -> String { "\(tenant.id) \(name.lowercased())" }

    // MARK: Reading

    func user(_ id: String) throws -> User {
        settle(id)
        guard let user = users[id] else { throw ProtocolError.userNotFound }
        guard !user.isDisabled else { throw ProtocolError.userDisabled }
        return user
    }

    func user(named email: String, in tenant: Tenant) throws -> User {
        guard let id = ids[Self.key(email, tenant)] else { throw ProtocolError.userNotFound }
        return try user(id)
    }

    /// The people of a tenant who sign in at `provider` and are not disabled.
    func users(of provider: String, in tenant: Tenant) -> [User] {
        (federated[Self.key(provider, tenant)] ?? []).compactMap { users[$0] }.filter { !$0.isDisabled }
    }

    /// Whether a password reset or an administrator ended what began at `instant`.
    func isEnded(_ id: String, since instant: Date) -> Bool {
        settle(id)
        guard let user = users[id], !user.isDisabled else { return true }
        return user.signInsEndBefore.map { instant < $0 } ?? false
    }

    func exists(_ email: String, in tenant: Tenant) -> Bool { ids[Self.key(email, tenant)] != nil }

    // MARK: Passwords

    /// Checks a password; ten wrong ones lock the user for a minute, which answers like a wrong one.
    nonisolated func checkPassword(_ password: String, of user: User) async throws {
        if let until = user.lockedUntil, clock.now < until { throw ProtocolError.wrongPassword }
        let isRight = try user.password?.matches(password) ?? false
        await recordAttempt(of: user.id, isRight: isRight)
        guard isRight else { throw ProtocolError.wrongPassword }
    }

    private func recordAttempt(of id: String, isRight: Bool) {
        guard var user = users[id] else { return }
        user.failedPasswords = isRight ? 0 : user.failedPasswords + 1
        if user.failedPasswords >= 10 {
            user.failedPasswords = 0
            user.lockedUntil = clock.now + Lifetime.passwordLock
        }
        users[id] = user
    }

    /// Refuses the current password and the three before it.
    nonisolated func checkNotUsed(_ password: String, by user: User) throws {
        for hash in [user.password].compactMap({ $0 }) + user.earlierPasswords where try hash.matches(password) {
            throw ProtocolError.password("password_recently_used", "The password was used recently.")
        }
    }

    /// Sets a new password `delay` seconds from now and ends the sessions begun before that.
    func reset(_ id: String, to hash: PasswordHash, after delay: Int) {
        users[id]?.pendingPassword = (hash, clock.now + TimeInterval(delay))
        settle(id)
    }

    func isResetPending(_ id: String) -> Bool {
        settle(id)
        return users[id]?.pendingPassword != nil
    }

    private func settle(_ id: String) {
        guard var user = users[id], let pending = user.pendingPassword, pending.appliesAt <= clock.now else { return }
        if let current = user.password { user.earlierPasswords = [current] + user.earlierPasswords.prefix(2) }
        user.password = pending.hash
        user.pendingPassword = nil
        user.mustResetPassword = false
        user.lockedUntil = nil
        user.failedPasswords = 0
        user.signInsEndBefore = pending.appliesAt
        users[id] = user
    }

    // MARK: Changes

    func create(_ email: String, in tenant: Tenant, password: PasswordHash?, attributes: [String: String]) throws
        -> User
    {
        guard !exists(email, in: tenant) else { throw ProtocolError.userExists }
        var user = User(email: email.lowercased(), password: password, attributes: attributes)
        user.attributes["displayName"] = user.attributes["displayName"] ?? String(email.prefix { $0 != "@" })
        users[user.id] = user
        ids[Self.key(email, tenant)] = user.id
        return user
    }

    func update(_ id: String, attributes: [String: String]) {
        users[id]?.attributes.merge(attributes) { _, new in new }
    }

    func add(_ method: SecondFactorMethod, to id: String) { users[id]?.methods.append(method) }

    // MARK: Consent

    func consents(of id: String, to client: Client) -> Set<String> { consents["\(id) \(client.id)"] ?? [] }

    func consent(_ id: String, to scopes: [String], for clientID: String) {
        consents["\(id) \(clientID)", default: []].formUnion(scopes)
    }
}

struct User: Sendable {
    var id = UUID().uuidString.lowercased()
    let email: String
    /// The provider that checks who they are, if it is not this one.
    var identityProvider: String?
    var password: PasswordHash?
    /// The three before the current one.
    var earlierPasswords: [PasswordHash] = []
    var attributes: [String: String]
    var methods: [SecondFactorMethod] = []
    var isDisabled = false
    var mustResetPassword = false
    var failedPasswords = 0
    var lockedUntil: Date?
    /// A reset that a worker of the real service would still be carrying out.
    var pendingPassword: (hash: PasswordHash, appliesAt: Date)?
    /// What earlier sign-ins began is dead: sessions of browsers, codes, approvals of devices, refresh families.
    var signInsEndBefore: Date?

    var name: String { attributes["displayName"] ?? "unknown" }
}

extension User {
    init(_ person: SeededUser) throws {
        let password = try person.password.map(PasswordHash.init)
        self.init(email: person.email.lowercased(), password: password, attributes: person.attributes)
        id = person.id ?? id
        identityProvider = person.identityProvider
        methods = person.methods
        isDisabled = person.isDisabled
        mustResetPassword = person.mustResetPassword
    }
}
