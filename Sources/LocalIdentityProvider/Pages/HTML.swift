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
            for character in value.unicodeScalars {
                switch character {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(character)
                }
            }
        }
    }
}
