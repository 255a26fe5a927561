import AsyncHTTPClient

/// The proxy that the environment names for `https`, and the hosts that are reached without it.
///
/// Plain `http` is for loopback, which never goes through a proxy, so `http_proxy` plays no part.
struct ProxySettings: Sendable {
    let proxy: HTTPClient.Configuration.Proxy?
    private let exceptions: [String]

    /// - Throws: ``HTTPTransportError/configuration(_:)`` if the environment names a proxy that cannot be used.
    init(environment: [String: String]) throws(HTTPTransportError) {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let named = names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first { !$0.1.isEmpty }
        proxy = try named.map { (name, url) throws(HTTPTransportError) in try Self.proxy(url, from: name) }
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exceptions = list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map { $0.lowercased() }
    }

    /// Whether `host` is reached through the proxy.
    func applies(to address: HTTPAddress) -> Bool {
        guard proxy != nil, !address.isLoopback else { return false }
        return !exceptions.contains { exception in
            let domain = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
            return exception == "*" || address.host == domain || address.host.hasSuffix("." + domain)
                || exception == address.name
        }
    }

    private static func proxy(
        _ url: String,
        from name: String
    ) throws(HTTPTransportError) -> HTTPClient.Configuration.Proxy {
        let parts = url.firstRange(of: "://").map { (url[..<$0.lowerBound].lowercased(), url[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", url[...])
        let authority = rest.prefix { !"/?#".contains($0) }
        let address = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let pieces = address.split(separator: ":")
        guard scheme == "http" || scheme.hasPrefix("socks5"), let host = pieces.first.map(String.init),
            let port = pieces.count == 2 ? Int(pieces[1]) : pieces.count == 1 ? (scheme == "http" ? 80 : 1080) : nil
        else {
            // The value may hold a password, so it is not repeated.
            throw .configuration("\(name) names no http or socks5 proxy; write one such as http://proxy.example:3128")
        }
        guard scheme == "http" else { return .socksServer(host: host, port: port) }
        let user = authority.lastIndex(of: "@").map { String(authority[..<$0]) }
        guard let user else { return .server(host: host, port: port) }
        let separator = user.firstIndex(of: ":") ?? user.endIndex
        let (name, password) = (String(user[..<separator]), String(user[separator...].dropFirst()))
        return .server(host: host, port: port, authorization: .basic(username: name, password: password))
    }
}
