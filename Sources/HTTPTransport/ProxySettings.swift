import AsyncHTTPClient
import OAuth

/// The proxy that the environment names for `https`, and the hosts that are reached without it.
///
/// Plain `http` is for loopback, which never goes through a proxy, so `http_proxy` plays no part.
struct ProxySettings: Sendable {
    let proxy: HTTPClient.Configuration.Proxy?
    private let exceptions: [String]

    /// - Throws: ``HTTPTransportError/Code/configuration`` if the environment names a proxy that cannot be used.
    init(environment: [String: String]) throws(HTTPTransportError) {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let named = names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first { !$0.1.isEmpty }
        proxy = try named.map { (name, url) throws(HTTPTransportError) in try Self.proxy(url, from: name) }
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exceptions = list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map { $0.lowercased() }
    }

    /// Whether `host` is reached through the proxy.
    func applies(to address: WebAddress) -> Bool {
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
        // By bytes: together with a combining mark behind it, each of these is another character.
        let authority = Substring(rest.utf8.prefix { !"/?#".utf8.contains($0) })
        let sign = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let address = sign.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        guard scheme == "http" || scheme.hasPrefix("socks5"),
            let place = HostAndPort(address, usualPort: scheme == "http" ? 80 : 1080)
        else {
            // The value may hold a password, so it is not repeated.
            throw .configuration(
                "\(name) names no http or socks5 proxy",
                "write one such as http://proxy.example:3128"
            )
        }
        guard scheme == "http" else {
            guard sign == nil else {
                throw .configuration(
                    "\(name) has a user for a SOCKS proxy, which is not supported",
                    "name a SOCKS proxy that asks for no user, or an http proxy"
                )
            }
            return .socksServer(host: place.host, port: place.port)
        }
        guard let sign else { return .server(host: place.host, port: place.port) }
        let authorization = try authorization(authority[..<sign], from: name)
        return .server(host: place.host, port: place.port, authorization: authorization)
    }

    /// The user and the password of a URL, in which some characters must be percent-encoded
    /// ([RFC 3986 §3.2.1](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1)).
    private static func authorization(
        _ userInfo: Substring,
        from name: String
    ) throws(HTTPTransportError) -> HTTPClient.Authorization {
        let parts = userInfo.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.compactMap { part in part.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) } }
        // RFC 7617 (section 2): a user with a colon would be another user with another password.
        guard texts.count == parts.count, texts.first?.utf8.contains(UInt8(ascii: ":")) == false,
            texts.joined().unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw .configuration(
                "the user or the password in \(name) cannot be read",
                "write special characters in digits, such as %40 for @"
            )
        }
        return .basic(username: texts[0], password: texts.count > 1 ? texts[1] : "")
    }
}
