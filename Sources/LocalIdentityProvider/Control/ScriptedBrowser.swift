import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// A browser without a screen: keeps cookies, follows redirects and posts forms, as the provider's pages need it.
package actor ScriptedBrowser {
    private static let limit: TimeAmount = .seconds(30)

    private let client: HTTPClient
    private var cookies: [String: String] = [:]

    /// Every `Set-Cookie` that came, as it stood there.
    package private(set) var cookiesSet: [String] = []

    /// Where it is: a page, or an address that is not of the web.
    package private(set) var address = ""
    package private(set) var status = 0
    package private(set) var page = ""

    /// - Throws: if `caFile` holds no certificates.
    package init(caFile: String? = nil) throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        if let caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(caFile))
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    /// The page's first heading.
    package var heading: String { page.firstMatch(of: /<h1>([^<]*)<\/h1>/).map { String($0.1) } ?? "" }

    /// What the page says is wrong.
    package var message: String { page.firstMatch(of: /role="alert"[^>]*>([^<]*)</).map { String($0.1) } ?? "" }

    /// Goes to an address, and on to where that leads.
    package func open(_ address: String) async throws { try await go(HTTPClientRequest(url: address)) }

    /// Presses a button of the page's form, having filled in some fields.
    package func press(_ action: String, _ fields: [String: String] = [:]) async throws {
        let target = page.firstMatch(of: /<form method="post" action="([^"]*)"/).map { HTML.unescaped($0.1) } ?? ""
        var form = fields.map { ($0.key, $0.value) }
        for match in page.matches(of: /type="hidden" name="([^"]+)" value="([^"]*)"/) {
            form.append((String(match.1), HTML.unescaped(match.2)))
        }
        if !action.isEmpty { form.append(("action", action)) }
        var request = HTTPClientRequest(url: target.isEmpty ? address : absolute(target))
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let encode = AuthorizationReply.encode
        request.body = .bytes(ByteBuffer(string: form.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")))
        try await go(request)
    }

    /// Fills in the sign-in page.
    package func signIn(_ username: String, _ password: String) async throws {
        try await press("sign_in", ["username": username, "password": password])
    }

    /// The cookies that go along to an address; to whatever port of a host, as RFC 6265 §8.5 has it.
    package func cookies(for address: String) -> String? { Self.host(address).flatMap { cookies[$0] } }

    private func go(_ request: HTTPClientRequest) async throws {
        var request = request
        for _ in 0..<10 {
            address = request.url
            guard let host = Self.host(address) else { return }
            if let cookies = cookies[host] { request.headers.add(name: "cookie", value: cookies) }
            let response = try await client.execute(request, timeout: Self.limit)
            page = String(buffer: try await response.body.collect(upTo: 1 << 20))
            status = Int(response.status.code)
            keep(response.headers["set-cookie"], of: host)
            guard (300..<400).contains(status), let next = response.headers.first(name: "location") else { return }
            request = HTTPClientRequest(url: absolute(next))
        }
    }

    private func keep(_ set: [String], of host: String) {
        cookiesSet += set
        var pairs = (cookies[host] ?? "").split(separator: "; ").map(String.init)
        for cookie in set {
            let pair = String(cookie.prefix { $0 != ";" })
            pairs.removeAll { $0.hasPrefix(pair.prefix { $0 != "=" } + "=") }
            if !cookie.contains("Max-Age=0") { pairs.append(pair) }
        }
        cookies[host] = pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    /// A path is one of the server that the page is from.
    private func absolute(_ link: String) -> String {
        guard link.hasPrefix("/"), let origin = address.firstMatch(of: /^https?:\/\/[^\/?#]+/) else { return link }
        return origin.0 + link
    }

    /// nil for an address that only an app can open.
    private static func host(_ address: String) -> String? {
        address.firstMatch(of: /^https?:\/\/(\[[^\]]*\]|[^:\/?#]+)/).map { String($0.1) }
    }
}
