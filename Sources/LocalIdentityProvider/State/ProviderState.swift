package import Foundation
import OAuth
import Synchronization

/// Everything the endpoints share.
struct ProviderState: Sendable {
    let seed: Seed
    let baseURL: String
    let clock: ProviderClock
    let users: Users
    let flows: Flows
    let codes: OneTimeCodes
    let grants: Grants
    let keys: Keys
    let browsers: Browsers
    let outbox = Outbox()
    let audit = AuditLog()
    let faults = Faults()
    let proofs: DPoPProofs
    let adminKey: String?

    init(_ configuration: LocalIdentityProvider.Configuration, baseURL: String) throws {
        seed = try configuration.seed ?? .standard
        self.baseURL = baseURL
        clock = configuration.clock
        proofs = DPoPProofs(clock: clock)
        users = try Users(seed, clock: clock)
        flows = Flows(clock: clock)
        grants = Grants(clock: clock, grace: configuration.refreshGrace)
        keys = Keys(clock: clock, spare: configuration.signingKeys)
        browsers = Browsers(clock: clock)
        codes = OneTimeCodes(clock: clock, outbox: outbox)
        adminKey = configuration.adminKey
    }

    func realm(tenant name: String, policy: String? = nil) throws -> Realm {
        guard let tenant = seed.tenants.first(where: { $0.isNamed(name) }) else { throw ProtocolError.unknownRealm }
        guard let policy else { return Realm(tenant: tenant, policy: nil, baseURL: baseURL) }
        guard let flow = tenant.policies.first(where: { $0.name == policy.lowercased() }) else {
            throw ProtocolError.unknownRealm
        }
        return Realm(tenant: tenant, policy: flow, baseURL: baseURL)
    }

    func record(_ exchange: Exchange, _ reply: Reply) {
        // Test control would drown what it is there to watch.
        guard exchange.route != .admin else { return }
        audit.record(
            AuditEntry(
                time: clock.now,
                route: exchange.route.name,
                status: reply.status,
                outcome: reply.outcome ?? "\(reply.status)",
                correlationID: exchange.correlationID
            )
        )
    }

    /// The claims of an access token, judged as an API would: by the issuer's published key set and the clock.
    func claims(of token: String) async throws -> (claims: SignedClaims, realm: Realm)? {
        let realms = seed.tenants.flatMap { tenant in
            ([nil] + tenant.policies.map(Optional.some)).map { Realm(tenant: tenant, policy: $0, baseURL: baseURL) }
        }
        guard let issuer = await SignedClaims.unverified(token)?["iss"]?.text,
            let realm = realms.first(where: { $0.issuer == issuer }),
            let claims = try await SignedClaims.verified(token, by: keys.published(for: realm)),
            claims.isValid(at: clock.now)
        else { return nil }
        return (claims, realm)
    }

    /// The access token of a request for an API; nil where there is none.
    ///
    /// One that is bound to a key is taken only with a proof of that key (RFC 9449 section 7).
    func presentedToken(_ exchange: Exchange) async throws -> String? {
        let bearer = exchange.authorization("bearer") ?? exchange.form["access_token"]
        guard let token = exchange.authorization("dpop") ?? bearer else { return nil }
        let bound = await SignedClaims.unverified(token)?["cnf"]?["jkt"]?.text
        do {
            let proven = try proofs.thumbprint(exchange, baseURL: baseURL, accessToken: token)
            guard (bearer == nil ? proven : nil) == bound else { throw ProtocolError.accessToken("invalid_token") }
        } catch let error as ProtocolError {
            throw error.atAPI
        }
        return token
    }

    /// Like ``claims(of:)``, and not revoked either.
    func liveClaims(of token: String) async throws -> (claims: SignedClaims, realm: Realm)? {
        guard let verified = try await claims(of: token), let id = verified.claims["jti"]?.text,
            let family = await grants.family(verified.claims["sid"]?.text ?? "", ofAccessToken: id),
            await !hasEnded(family.signedIn)
        else { return nil }
        return verified
    }

    /// Whether a password reset or an administrator ended everything that this sign-in began.
    func hasEnded(_ signedIn: SignedIn) async -> Bool { await users.isEnded(signedIn.userID, since: signedIn.at) }
}

/// The provider's time: a source plus an offset that test control moves.
package final class ProviderClock: Sendable {
    private let source: @Sendable () -> Date
    private let offset = LockedValue<TimeInterval>(0)

    package init(_ source: @escaping @Sendable () -> Date = { Date() }) { self.source = source }

    package var now: Date { source() + offset.withLock { $0 } }

    /// Moves the time forward.
    package func advance(by seconds: TimeInterval) { offset.withLock { $0 += seconds } }

    package func set(to date: Date) { offset.withLock { $0 = date.timeIntervalSince(source()) } }
}

extension Date {
    /// As HTTP writes it (RFC 9110 section 5.6.7).
    var httpText: String {
        var seconds = time_t(timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(days[Int(parts.tm_wday)]), \(digits(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(digits).joined(separator: ":")
        return "\(day) \(parts.tm_year + 1900) \(time) GMT"
    }
}
