import Hummingbird

/// A page of the app.
struct Page {
    let title: String

    /// HTML, in which every text of others is escaped.
    let body: String
    let node: String

    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        let html = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>\(title.escaped)</title>
            <h1>\(title.escaped)</h1>
            \(body)
            <p><small>answered by \(node.escaped)</small></p></html>

            """
        return Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }
}

extension String {
    /// The text as it stands in HTML, also between quotes.
    ///
    /// By bytes: together with some letters before it a bracket is another character, but not to a browser.
    var escaped: String {
        var escaped: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            case UInt8(ascii: "'"): escaped += "&#39;".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

/// What browsers are told of every answer: to keep no copy, to run nothing, and to show it in no frame.
struct PageHeaders: RouterMiddleware {
    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.cacheControl] = "no-store"
        response.headers[.contentSecurityPolicy] = "default-src 'none'; form-action 'self'; frame-ancestors 'none'"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }
}
