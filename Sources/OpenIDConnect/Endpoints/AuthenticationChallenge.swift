package import HTTPTransport

/// One challenge of a `WWW-Authenticate` header
/// ([RFC 9110 §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
package struct AuthenticationChallenge: Sendable {
    /// In small letters.
    fileprivate let scheme: [UInt8]

    /// By the bytes of their names: to hash texts takes quadratic time on combining marks.
    fileprivate var parameters: [[UInt8]: String] = [:]

    /// The challenges of a scheme, whose name is in small letters.
    package static func all(_ scheme: String, in response: HTTPResponse) -> [AuthenticationChallenge] {
        response.headers.values(of: "www-authenticate").flatMap { field in
            var reader = ChallengeReader(field)
            return reader.challenges().filter { $0.scheme.elementsEqual(scheme.utf8) }
        }
    }

    /// The value of a parameter, whose name is in small letters; the first one where there are two of the name.
    package subscript(name: String) -> String? { parameters[Array(name.utf8)] }
}

/// Reads the challenges of one header field, `scheme name="value", name=value, scheme name=value`.
private struct ChallengeReader {
    /// Bytes: together with a combining mark behind it, a quotation mark is another character.
    private var rest: ArraySlice<UInt8>

    private static let (comma, equals) = (UInt8(ascii: ","), UInt8(ascii: "="))
    private static let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))

    init(_ field: String) { rest = Array(field.utf8)[...] }

    mutating func challenges() -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        var mayBeScheme = true
        while true {
            if taken(while: { Self.isSpace($0) || $0 == Self.comma }).contains(Self.comma) { mayBeScheme = true }
            guard !rest.isEmpty else { return challenges }
            let word = taken { !Self.isSpace($0) && ![Self.comma, Self.equals, Self.quote].contains($0) }
                .map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
            _ = taken(while: Self.isSpace)
            if rest.first == Self.equals {
                rest.removeFirst()
                _ = taken(while: Self.isSpace)
                let value = value()
                let last = challenges.indices.last
                if let last, challenges[last].parameters[word] == nil { challenges[last].parameters[word] = value }
            } else if word.isEmpty {
                // A quotation mark that belongs to no name.
                _ = value()
            } else if mayBeScheme {
                challenges.append(AuthenticationChallenge(scheme: word))
            }
            mayBeScheme = false
        }
    }

    /// A quoted string, in which `\x` is x (RFC 9110 §5.6.4), or all until a comma or a space.
    private mutating func value() -> String {
        guard rest.first == Self.quote else {
            return String(decoding: taken { !Self.isSpace($0) && $0 != Self.comma }, as: UTF8.self)
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != Self.quote {
            value.append(byte == Self.backslash ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func taken(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return taken
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
