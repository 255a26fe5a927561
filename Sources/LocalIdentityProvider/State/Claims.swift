import Foundation
import JWTKit

/// The claims of one token.
struct Claims: JWTPayload, Sendable {
    var values: [String: JSON]

    subscript(name: String) -> JSON? {
        get { values[name] }
        set { values[name] = newValue }
    }

    init(_ values: [String: JSON]) { self.values = values }

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: JSON].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    /// The signature alone is judged here; whoever accepts the token judges the claims by the provider's clock.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// Whether the token is of this time.
    func isValid(at now: Date) -> Bool {
        guard let expires = values["exp"]?.whole, let start = values["nbf"]?.whole else { return false }
        let seconds = Int(now.timeIntervalSince1970)
        return start <= seconds && seconds < expires
    }
}
