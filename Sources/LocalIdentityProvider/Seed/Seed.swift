package import Foundation

/// What the provider knows when it starts; a restart goes back to it.
package struct Seed: Codable, Sendable {
    package var tenants: [Tenant]

    /// Reads the JSON of `--seed`.
    package init(json: Data) throws {
        do {
            self = try JSONDecoder().decode(Seed.self, from: json)
        } catch let error as DecodingError {
            throw StartError.seed(error.place)
        }
        for tenant in tenants.indices {
            for policy in tenants[tenant].policies.indices {
                tenants[tenant].policies[policy].name = tenants[tenant].policies[policy].name.lowercased()
            }
        }
        try validate()
    }

    /// Refuses a seed that would only fail later, at the first request.
    private func validate() throws {
        guard !tenants.isEmpty else { throw StartError.seed("it names no tenant") }
        for tenant in tenants {
            for policy in tenant.policies where policy.name.wholeMatch(of: /[a-z0-9_-]+/) == nil {
                throw StartError.seed("the policy name \(policy.name) has other characters than a-z, 0-9, _ and -")
            }
            for attribute in tenant.attributes where attribute.regex != nil {
                guard attribute.isWellFormed else {
                    throw StartError.seed("the regex of the attribute \(attribute.name) does not parse")
                }
            }
            let names = Set(tenant.attributes.map(\.name)).union(AttributeDefinition.builtIn.map(\.name))
            for page in tenant.clients.flatMap(\.attributePages) + tenant.policies.flatMap(\.attributePages) {
                for attribute in page where !names.contains(attribute.name) {
                    throw StartError.seed("the attribute \(attribute.name) is asked for and not defined")
                }
            }
        }
    }
}
