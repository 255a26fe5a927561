/// How a tenant's issuers sign.
package enum SigningAlgorithm: String, Codable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
}
