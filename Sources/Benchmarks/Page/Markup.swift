/// A piece of HTML or SVG, whose texts and attributes are escaped when it is written.
enum Markup {
    case text(String)
    indirect case element(String, attributes: [(name: String, value: String)], children: [Markup])

    /// Rules of this program, never a text from elsewhere: nothing in them is escaped.
    case style(StaticString)

    static func tag(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ children: [Markup] = []
    ) -> Markup {
        .element(name, attributes: attributes.map { ($0.key, $0.value) }, children: children)
    }

    static func tag(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ text: String) -> Markup {
        tag(name, attributes, [.text(text)])
    }

    /// Those that have no content, in HTML or in SVG.
    private static let empty: Set = ["meta", "line", "rect", "circle", "path"]

    func write(to page: inout String) {
        switch self {
        case .text(let text): page += Self.escaped(text)
        case .style(let rules): page += "<style>\(rules)</style>"
        case .element(let name, let attributes, let children):
            page += "<" + name
            for attribute in attributes { page += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
            if Self.empty.contains(name) {
                page += "/>"
                return
            }
            page += ">"
            for child in children { child.write(to: &page) }
            page += "</\(name)>"
        }
    }

    var written: String {
        var page = ""
        write(to: &page)
        return page
    }

    /// Characters that a page cannot hold, such as NUL, become U+FFFD.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;".unicodeScalars
            case "<": escaped += "&lt;".unicodeScalars
            case ">": escaped += "&gt;".unicodeScalars
            case "\"": escaped += "&quot;".unicodeScalars
            case "'": escaped += "&#39;".unicodeScalars
            case "\n", "\t": escaped.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{FFFE}", "\u{FFFF}": escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
