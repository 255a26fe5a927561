/// How a tenant's issuers sign.
package enum SigningAlgorithm: String, Omittable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"

    package init() { self = .rs256 }
}
