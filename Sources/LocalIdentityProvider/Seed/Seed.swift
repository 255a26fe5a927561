package import Foundation

/// What the provider knows when it starts; a restart goes back to it.
package struct Seed: Codable, Sendable {
    package var tenants: [Tenant]

    /// Reads the JSON of `--seed` and refuses what would only fail later, at the first request.
    package init(json: Data) throws {
        do {
            self = try JSONDecoder().decode(Seed.self, from: json)
        } catch let error as DecodingError {
            throw StartError.seed("\(error)")
        }
        guard !tenants.isEmpty else { throw StartError.seed("it names no tenant") }
        for index in tenants.indices { try tenants[index].settle() }
        try requireOneOfEachName()
    }

    /// Of two with one name a request finds only one, and the seed does not show which.
    private func requireOneOfEachName() throws {
        for (index, tenant) in tenants.enumerated() {
            for name in [tenant.id, tenant.domain] where tenants[..<index].contains(where: { $0.isNamed(name) }) {
                throw StartError.seed("two tenants have the name \(name)")
            }
            let people = tenant.users.filter { $0.identityProvider == nil }.map { $0.email.lowercased() }
            try Self.requireUnique(people, "users of \(tenant.domain) have the e-mail address")
            try Self.requireUnique(tenant.clients.map(\.id), "clients of \(tenant.domain) have the id")
            try Self.requireUnique(tenant.policies.map(\.name), "policies of \(tenant.domain) have the name")
            try Self.requireUnique(tenant.attributes.map(\.name), "attributes of \(tenant.domain) have the name")
            try Self.requireUnique(tenant.resources.map(\.identifier), "APIs of \(tenant.domain) have the identifier")
            for user in tenant.users {
                try Self.requireUnique(user.methods.map(\.id), "methods of \(user.email) have the id")
            }
        }
        try Self.requireUnique(tenants.flatMap(\.resources).map(\.path), "APIs have the path")
        try Self.requireUnique(tenants.flatMap(\.users).compactMap(\.id), "users have the id")
    }

    private static func requireUnique(_ names: [String], _ things: String) throws {
        var known: Set<String> = []
        for name in names where !known.insert(name).inserted { throw StartError.seed("two \(things) \(name)") }
    }
}

extension Tenant {
    fileprivate mutating func settle() throws {
        for index in policies.indices {
            policies[index].name = policies[index].name.lowercased()
            guard policies[index].name.wholeMatch(of: /[a-z0-9_-]+/) != nil else {
                throw StartError.seed("the policy name \(policies[index].name) is not of a-z, 0-9, _ and -")
            }
        }
        if let user = users.first(where: { $0.identityProvider != nil && $0.password != nil }) {
            throw StartError.seed("\(user.email) has a password, and another identity provider that checks it")
        }
        for attribute in attributes where !attribute.isWellFormed {
            throw StartError.seed("the regex of the attribute \(attribute.name) does not parse")
        }
        let asked = (clients.flatMap(\.attributePages) + policies.flatMap(\.attributePages)).joined()
        if let unknown = asked.first(where: { attribute($0.name) == nil }) {
            throw StartError.seed("the attribute \(unknown.name) is asked for and not defined")
        }
        if let resource = resources.first(where: { !Route.apis.contains($0.path) }) {
            let served = Route.apis.joined(separator: " or ")
            throw StartError.seed("the path \(resource.path) of \(resource.identifier) is not \(served)")
        }
        for policy in policies {
            try require(policy.accessTokenLifetime, "accessTokenLifetime of \(policy.name)", to: Lifetime.longest)
            try require(policy.refreshTokenLifetime, "refreshTokenLifetime of \(policy.name)", to: Lifetime.longest)
        }
        for client in clients {
            let timeout = client.claimsProvider?.timeoutMilliseconds
            try require(timeout, "timeoutMilliseconds of \(client.id)", to: Lifetime.longestDelay)
        }
    }

    /// Then sums of times do not overflow, and a task can sleep so long.
    private func require(_ number: Int?, _ name: String, to most: Int) throws {
        guard let number, !(0...most).contains(number) else { return }
        throw StartError.seed("\(name) is \(number), not 0 to \(most)")
    }
}

/// A value with a default that a seed need not spell out.
package protocol Omittable: Codable {
    init()
}

extension Bool: Omittable {}
extension Int: Omittable {}
extension Array: Omittable where Element: Codable {}
extension Dictionary: Omittable where Key: Codable, Value: Codable {}

/// A member that JSON may leave out; it is then what ``Omittable/init()`` makes.
@propertyWrapper
package struct Defaulted<Value: Omittable>: Codable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension Defaulted: Sendable where Value: Sendable {}

extension KeyedDecodingContainer {
    /// What the synthesized decoding of a ``Defaulted`` member calls.
    package func decode<Value>(_: Defaulted<Value>.Type, forKey key: Key) throws -> Defaulted<Value> {
        Defaulted(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? Value())
    }
}

/// How long things live, in seconds.
enum Lifetime {
    static let accessToken = 3600
    static let idToken = 3600
    static let refreshToken = 14 * 86_400
    static let refreshFamily = 90 * 86_400
    static let continuationToken = 600
    static let deviceCode = 900
    static let devicePollInterval = 5
    static let resetPollInterval = 1
    static let resendInterval = 60
    /// The longest that a seed may ask for: ten years.
    static let longest = 3650 * 86_400
    /// The longest wait that a seed or a fault may ask for, a day, in milliseconds.
    static let longestDelay = 86_400_000

    static let authorizationCode: TimeInterval = 60
    static let flow: TimeInterval = 900
    static let oneTimeCode: TimeInterval = 300
    static let browserSession: TimeInterval = 86_400
    static let retiringKey: TimeInterval = 86_400
    static let passwordLock: TimeInterval = 60
}
