import OAuth

/// A directory of people and the programs that may sign them in.
package struct Tenant: Codable, Sendable {
    package var id: String
    /// The full domain, such as `fabrikvine.onmicrosoft.com`.
    package var domain: String
    @Defaulted package var algorithm: SigningAlgorithm
    @Defaulted package var clients: [Client]
    @Defaulted package var policies: [UserFlow]
    @Defaulted package var users: [SeededUser]
    @Defaulted package var resources: [ProtectedResource]
    @Defaulted package var attributes: [AttributeDefinition]
    /// Addresses and numbers that may not become a sign-in method.
    @Defaulted package var blockedContacts: [String]

    /// Whether `name` is the id, the domain or the domain's first label.
    func isNamed(_ name: String) -> Bool {
        [id, domain, String(domain.prefix { $0 != "." })].contains { $0.lowercased() == name.lowercased() }
    }

    /// Where people of the tenant sign in instead of here.
    var identityProviders: [String] { Set(users.compactMap(\.identityProvider)).sorted() }

    // MARK: Attributes

    func attribute(_ name: String) -> AttributeDefinition? {
        attributes.first { $0.name == name } ?? AttributeDefinition.builtIn.first { $0.name == name }
    }

    func claims(of attributes: [String: String]) -> [String: JSONValue] {
        let claims = attributes.compactMap { name, value in attribute(name)?.claim.map { ($0, JSONValue.string(value)) }
        }
        return Dictionary(claims) { $1 }
    }

    /// The accepted values of the `attributes` parameter.
    ///
    /// Unknown names are ignored; refused values are named all at once.
    func accepted(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let submitted = (try? JSONValue(parsing: text))?.members else {  // text that is not JSON is refused
            throw ProtocolError.attributesNotJSON
        }
        let known = submitted.filter { attribute($0.key) != nil }
        let refused = known.filter { attribute($0.key)?.accepts($0.value) != true }
        guard refused.isEmpty else { throw ProtocolError.attributes(refused.keys.sorted()) }
        return known.compactMapValues(\.text)
    }

    /// The required attributes of the first page that lacks one.
    func missing(on pages: [[FlowAttribute]], given: [String: String]) -> [AttributeDefinition] {
        let missing = pages.map { page in page.filter { $0.isRequired ?? true && given[$0.name] == nil } }
        return missing.first { !$0.isEmpty }?.compactMap { attribute($0.name) } ?? []
    }
}

/// A B2C policy: one browser journey, which is a separate issuer.
package struct UserFlow: Codable, Sendable {
    package enum Kind: String, Omittable, Sendable {
        case signUpOrSignIn = "susi"
        case editProfile = "edit_profile"
        case resetPassword = "reset"

        package init() { self = .signUpOrSignIn }
    }

    /// Such as `b2c_1_susi`; ``Seed`` makes it lower case.
    package var name: String
    @Defaulted package var kind: Kind
    @Defaulted package var attributePages: [[FlowAttribute]]
    /// Whether the app is told of a forgotten password, and starts the user flow that resets it (`AADB2C90118`).
    @Defaulted package var forwardsForgottenPassword: Bool
    package var accessTokenLifetime: Int?
    package var refreshTokenLifetime: Int?
}

/// An attribute that a sign-up asks for.
package struct FlowAttribute: Codable, Sendable {
    package var name: String
    /// Nil means yes.
    package var isRequired: Bool?
}

/// What a tenant can know of a person, and the claim that carries it.
package struct AttributeDefinition: Codable, Sendable {
    package var name: String
    /// `integer`, or anything else for text.
    package var type: String?
    package var regex: String?
    package var maximumLength: Int?
    package var claim: String?

    static let builtIn =
        [
            AttributeDefinition(name: "displayName", claim: "name"),
            AttributeDefinition(name: "givenName", claim: "given_name"),
            AttributeDefinition(name: "surname", claim: "family_name"),
        ]
        + ["city", "country", "state", "postalCode", "streetAddress", "jobTitle"].map { AttributeDefinition(name: $0) }

    var isWellFormed: Bool {
        guard let regex else { return true }
        return (try? Regex(regex)) != nil  // the question is whether it parses
    }

    func accepts(_ value: JSONValue) -> Bool {
        guard let text = value.text, !text.isEmpty, text.count <= maximumLength ?? 256 else { return false }
        if type == "integer", Int(text) == nil { return false }
        guard let regex else { return true }
        return (try? Regex(regex).wholeMatch(in: text)) != nil  // one that does not parse was refused in the seed
    }

    /// As `required_attributes` lists it.
    var requirement: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name), "type": .string(type ?? "string"), "required": true]
        members["options"] = regex.map { ["regex": .string($0)] }
        return JSONValue(members)
    }
}

package enum SigningAlgorithm: String, Omittable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"

    package init() { self = .rs256 }
}
