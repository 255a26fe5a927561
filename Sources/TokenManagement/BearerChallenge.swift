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
        // By bytes: together with a combining mark behind it, a quotation mark is another character.
        let bytes = Array(value.utf8)
        let lowered = bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        let scheme = lowered.ranges(of: "bearer ".utf8).first { scheme in
            let before = lowered[..<scheme.lowerBound].last { !isSpace($0) }
            return before == nil || before == UInt8(ascii: ",")
        }
        return scheme.map { parameters(bytes[$0.upperBound...]) }
    }

    /// The claims travel as JSON in base64, of either alphabet; what is neither asks for nothing in particular.
    private static func claims(_ text: String) -> JSON? {
        let encoded = text.replacing("+", with: "-").replacing("/", with: "_")
        guard let bytes = Base64URL.decode(encoded.utf8) else { return try? JSON(parsing: text) }
        return bytes.withUnsafeBytes { try? JSON(parsing: $0) }
    }

    /// Reads `name="value", name=value`.
    private static func parameters(_ bytes: ArraySlice<UInt8>) -> [String: String] {
        let (comma, quote) = (UInt8(ascii: ","), UInt8(ascii: "\""))
        var parameters: [String: String] = [:]
        var rest = bytes
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[..<equals].drop { $0 == comma || isSpace($0) }
            rest = rest[equals...].dropFirst()
            let isQuoted = rest.first == quote
            if isQuoted { rest = rest.dropFirst() }
            let value = rest.prefix { isQuoted ? $0 != quote : $0 != comma && !isSpace($0) }
            parameters[String(decoding: name, as: UTF8.self).lowercased()] = String(decoding: value, as: UTF8.self)
            rest = rest[value.endIndex...].dropFirst(isQuoted ? 1 : 0)
        }
        return parameters
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
