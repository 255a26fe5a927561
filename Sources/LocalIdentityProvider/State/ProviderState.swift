import Foundation

/// Everything the endpoints share.
struct ProviderState: Sendable {
    let seed: Seed
    let baseURL: String
    let clock: ProviderClock
    let users: Users
    let flows: Flows
    let grants: Grants
    let keys: Keys
    let browsers: Browsers
    let outbox: Outbox
    let audit: AuditLog
    let faults: Faults
    let adminKey: String?

    init(_ configuration: LocalIdentityProvider.Configuration, baseURL: String) throws {
        seed = try configuration.seed ?? .standard
        self.baseURL = baseURL
        clock = configuration.clock
        outbox = Outbox()
        users = try Users(seed, clock: clock)
        flows = Flows(clock: clock, outbox: outbox)
        grants = Grants(clock: clock, grace: configuration.refreshGrace)
        keys = Keys(clock: clock, spare: configuration.signingKeys)
        browsers = Browsers(clock: clock, outbox: outbox)
        audit = AuditLog()
        faults = Faults()
        adminKey = configuration.adminKey
    }

    var timestamp: String { clock.now.formatted(.iso8601) }

    /// The issuer that a path names.
    func realm(tenant name: String, policy policyName: String? = nil) throws -> Realm {
        guard let tenant = seed.tenants.first(where: { $0.isNamed(name) }) else { throw ProtocolError.unknownRealm }
        let policy = policyName.flatMap { name in tenant.policies.first { $0.name == name.lowercased() } }
        guard policyName == nil || policy != nil else { throw ProtocolError.unknownRealm }
        return Realm(tenant: tenant, policy: policy, baseURL: baseURL)
    }

    /// The issuer with exactly this identifier.
    func realm(issuer: String) -> Realm? {
        let realms = seed.tenants.flatMap { tenant in
            ([nil] + tenant.policies.map(Optional.some)).map { Realm(tenant: tenant, policy: $0, baseURL: baseURL) }
        }
        return realms.first { $0.issuer == issuer }
    }
}
