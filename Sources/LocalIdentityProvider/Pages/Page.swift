/// One HTML page of the provider.
struct Page: Sendable {
    let title: String
    var message: String?
    let content: HTML

    func reply(status: Int = 200, outcome: String? = nil) -> Reply {
        Reply(
            status: status,
            headers: [
                "content-type": "text/html; charset=utf-8",
                "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "
                    + "base-uri 'none'",
                "referrer-policy": "no-referrer",
                "x-content-type-options": "nosniff",
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
            <style>\(Self.style)</style></head><body><main><h1>\(title)</h1>\(message)\(content)</main>
            <footer>local-idp, a development provider. Do not enter real passwords.</footer></body></html>
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
