import Foundation
import JWTKit

struct Claims: JWTPayload, Sendable {
    let values: [String: JSON]

    subscript(name: String) -> JSON? { values[name] }

    var scopes: Set<String> { Set((values["scp"]?.text ?? "").split(separator: " ").map(String.init)) }

    init(_ values: [String: JSON]) { self.values = values }

    init(from decoder: any Decoder) throws { values = try [String: JSON](from: decoder) }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// The signature alone is judged here; whoever accepts the token judges the claims by the provider's clock.
    func verify(using algorithm: some JWTAlgorithm) {}

    func isValid(at now: Date) -> Bool {
        guard let expires = values["exp"]?.whole, let start = values["nbf"]?.whole else { return false }
        return (start..<expires).contains(Int(now.timeIntervalSince1970))
    }

    static func unverified(_ token: String) async -> Claims? {
        try? await JWTKeyCollection().unverified(token, as: Claims.self)  // what does not parse is not a token
    }

    /// The claims if a key of `keySet` signed them.
    static func verified(_ token: String, by keySet: JSON) async throws -> Claims? {
        let keys = try await JWTKeyCollection().add(jwksJSON: String(decoding: keySet.encoded, as: UTF8.self))
        return try? await keys.verify(token, as: Claims.self)  // whatever is wrong with it, it is no token of ours
    }
}
