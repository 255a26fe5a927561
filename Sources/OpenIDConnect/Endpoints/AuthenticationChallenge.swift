package import HTTPTransport

/// The parameters of one challenge of a `WWW-Authenticate` header
/// ([RFC 9110 §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
package struct AuthenticationChallenge: Sendable {
    private let parameters: [String: String]

    /// The challenges of a scheme, whose name is in small letters: the first one of each header field.
    package static func all(_ scheme: String, in response: HTTPResponse) -> [AuthenticationChallenge] {
        response.headers.values(of: "www-authenticate")
            .compactMap { parameters($0, of: scheme).map(AuthenticationChallenge.init) }
    }

    /// The value of a parameter, whose name is in small letters.
    package subscript(name: String) -> String? { parameters[name] }

    /// The parameters of a scheme's challenge, which may follow others in one header field.
    private static func parameters(_ value: String, of scheme: String) -> [String: String]? {
        // By bytes: together with a combining mark behind it, a quotation mark is another character.
        let bytes = Array(value.utf8)
        let lowered = bytes.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        let place = lowered.ranges(of: "\(scheme) ".utf8).first { place in
            let before = lowered[..<place.lowerBound].last { !isSpace($0) }
            return before == nil || before == UInt8(ascii: ",")
        }
        return place.map { parameters(bytes[$0.upperBound...]) }
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
