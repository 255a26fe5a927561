/// One HTML page of the provider: a text, and a form when it belongs to a journey.
struct Page: Sendable {
    struct Field: Sendable {
        let name: String
        let label: String
        var type = "text"
        var value = ""
        /// What a browser's password manager calls it.
        var hint = "off"
    }

    let title: String
    var content: HTML = ""
    var fields: [Field] = []
    var buttons: KeyValuePairs<String, String> = [:]
    /// What stands below the buttons.
    var more: HTML = ""
    var message: String?
    /// The id of the journey that the form posts to, which no other browser can use.
    var interaction: String?

    func reply(status: Int = 200, outcome: String? = nil) -> Reply {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
        return Reply(
            status: status,
            headers: [
                "content-type": "text/html; charset=utf-8", "content-security-policy": policy,
                "referrer-policy": "no-referrer", "x-content-type-options": "nosniff",
            ],
            body: Array(document.text.utf8),
            outcome: outcome ?? "page: \(title)"
        )
    }

    private var document: HTML {
        let message: HTML = message.map { "<p role=\"alert\" class=\"message\">\($0)</p>" } ?? ""
        return """
            <!doctype html><html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1"><title>\(title)</title>
            <style>\(Self.style)</style></head><body><main><h1>\(title)</h1>\(message)\(form)</main>
            <footer>local-idp, a development provider. Do not enter real passwords.</footer></body></html>
            """
    }

    private var form: HTML {
        guard let interaction else { return content }
        let inputs = fields.map { field -> HTML in
            """
            <label>\(field.label)<input name="\(field.name)" id="\(field.name)" type="\(field.type)" \
            value="\(field.value)" autocomplete="\(field.hint)"></label>
            """
        }
        let actions = buttons.map { action, label -> HTML in
            "<button name=\"action\" value=\"\(action)\" id=\"\(action)\">\(label)</button>"
        }
        return """
            <form method="post" action=""><input type="hidden" name="interaction" value="\(interaction)">\
            \(content)\(inputs)\(actions)\(more)<button name="action" value="cancel" formnovalidate>Cancel</button></form>
            """
    }

    private static let style: HTML = """
        :root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0;display:grid;min-height:100vh;\
        place-content:center;justify-items:center}main{width:min(24rem,90vw);padding:1.5rem}h1{font-size:1.4rem}\
        label{display:block;margin:.6rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;\
        font:inherit}button{margin:.4rem .4rem 0 0;padding:.5rem .9rem;font:inherit;cursor:pointer}\
        .message{border-left:4px solid #c33;padding-left:.6rem}.account{display:block;width:100%;text-align:left}\
        footer{opacity:.7;font-size:.8rem}
        """

    /// What a person sees when a journey cannot go on and there is nowhere to send them back to.
    static func failure(_ error: ProtocolError) -> Reply {
        Page(title: "Something went wrong", content: "<p>\(error.text)</p><p><code>\(error.error)</code></p>")
            .reply(status: error.status, outcome: error.description)
    }

    static func done(_ title: String, _ text: String) -> Reply {
        Page(title: title, content: "<p>\(text)</p>").reply()
    }
}

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
