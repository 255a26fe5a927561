import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// A browser without a screen, for the provider's own pages: keeps cookies, follows redirects and posts forms.
package actor ScriptedBrowser {
    private static let limit: TimeAmount = .seconds(30)

    private let client: HTTPClient
    private var cookies: [String: String] = [:]

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
        var request = HTTPClientRequest(url: target.isEmpty ? address : target)
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

    private func go(_ request: HTTPClientRequest) async throws {
        var request = request
        for _ in 0..<10 {
            address = request.url
            guard let origin = Self.origin(address) else { return }
            if let cookies = cookies[origin] { request.headers.add(name: "cookie", value: cookies) }
            let response = try await client.execute(request, timeout: Self.limit)
            page = String(buffer: try await response.body.collect(upTo: 1 << 20))
            status = Int(response.status.code)
            keep(response.headers["set-cookie"], of: origin)
            guard (300..<400).contains(status), let next = response.headers.first(name: "location") else { return }
            request = HTTPClientRequest(url: next)
        }
    }

    private func keep(_ set: [String], of origin: String) {
        var pairs = (cookies[origin] ?? "").split(separator: "; ").map(String.init)
        for cookie in set {
            let pair = String(cookie.prefix { $0 != ";" })
            pairs.removeAll { $0.hasPrefix(pair.prefix { $0 != "=" } + "=") }
            pairs.append(pair)
        }
        cookies[origin] = pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    /// nil for an address that only an app can open.
    private static func origin(_ address: String) -> String? {
        address.firstMatch(of: /^https?:\/\/[^\/?#]+/).map { String($0.0) }
    }
}
