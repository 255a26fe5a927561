import HTTPTransport
import OAuth

/// What a web API asks for that refused a token ([RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)).
struct BearerChallenge {
    /// The claims that a new token has to have; nil: the token is merely no good any more.
    let claims: JSON?

    /// nil if another token would fare no better.
    init?(_ response: HTTPResponse) {
        for value in response.headers.values(of: "www-authenticate") {
            guard let parameters = Self.bearerParameters(value) else { continue }
            if parameters["error"] == "invalid_token" || parameters["error"] == "insufficient_claims" {
                claims = parameters["claims"].flatMap(Self.claims)
                return
            }
        }
        return nil
    }

    /// The parameters of the `Bearer` challenge, which may stand behind others in one header field.
    private static func bearerParameters(_ value: String) -> [String: String]? {
        let lowered = value.lowercased()
        let scheme = lowered.ranges(of: "bearer ").first { scheme in
            let before = lowered[..<scheme.lowerBound].last { !$0.isWhitespace }
            return before == nil || before == ","
        }
        return scheme.map { parameters(value.dropFirst(lowered[..<$0.upperBound].count)) }
    }

    /// The claims travel as JSON in base64, of either alphabet; what is neither asks for nothing in particular.
    private static func claims(_ text: String) -> JSON? {
        let encoded = text.replacing("+", with: "-").replacing("/", with: "_")
        guard let bytes = Base64URL.decode(encoded.utf8) else { return try? JSON(parsing: text) }
        return bytes.withUnsafeBytes { try? JSON(parsing: $0) }
    }

    /// Reads `name="value", name=value`.
    private static func parameters(_ text: Substring) -> [String: String] {
        var parameters: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].drop { $0 == "," || $0.isWhitespace }.lowercased()
            rest = rest[equals...].dropFirst()
            if rest.first == "\"" {
                let value = rest.dropFirst().prefix { $0 != "\"" }
                parameters[name] = String(value)
                rest = rest[value.endIndex...].dropFirst()
            } else {
                let value = rest.prefix { $0 != "," && !$0.isWhitespace }
                parameters[name] = String(value)
                rest = rest[value.endIndex...]
            }
        }
        return parameters
    }
}
