/// Text that is safe to stand in a page.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Plain values are escaped as they are put in; only ``HTML`` goes in as it is.
    struct Interpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ html: HTML) { text += html.text }

        mutating func appendInterpolation(_ parts: [HTML]) { text += parts.map(\.text).joined() }

        mutating func appendInterpolation(_ value: String) {
            text += HTML.escaped(value)
        }
    }

    private static let escapes: KeyValuePairs<UInt8, String> = [
        UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;", UInt8(ascii: "\""): "&quot;",
        UInt8(ascii: "'"): "&#39;",
    ]

    /// `text` with escapes in the place of what has a meaning in a page.
    ///
    /// Bytes are compared: together with an accent behind it, a bracket is another character, but not to a browser.
    static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if let escape = escapes.first(where: { $0.key == byte }) {
                escaped += Array(escape.value.utf8)
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// The text that ``escaped(_:)`` made `text` of.
    static func unescaped(_ text: some StringProtocol) -> String {
        var (rest, plain) = (Array(text.utf8)[...], [UInt8]())
        while let first = rest.first {
            if let escape = escapes.first(where: { rest.starts(with: $0.value.utf8) }) {
                plain.append(escape.key)
                rest = rest.dropFirst(escape.value.utf8.count)
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
