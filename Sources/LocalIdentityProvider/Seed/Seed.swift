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
        for attribute in attributes where !attribute.isWellFormed {
            throw StartError.seed("the regex of the attribute \(attribute.name) does not parse")
        }
        let asked = (clients.flatMap(\.attributePages) + policies.flatMap(\.attributePages)).joined()
        if let unknown = asked.first(where: { attribute($0.name) == nil }) {
            throw StartError.seed("the attribute \(unknown.name) is asked for and not defined")
        }
    }
}
