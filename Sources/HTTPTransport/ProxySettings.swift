import AsyncHTTPClient
import OAuth

/// The proxy that the environment names for `https`, and the hosts that are reached without it.
///
/// Plain `http` is for loopback, which never goes through a proxy, so `http_proxy` plays no part.
struct ProxySettings: Sendable {
    private let named: Result<NamedProxy?, HTTPTransportError>
    private let exceptions: [String]

    init(environment: [String: String]) {
        named = Self.named(in: environment)
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exceptions = list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map { $0.lowercased() }
    }

    /// The proxy through which `address` is reached; nil if it is reached without one.
    ///
    /// - Throws: ``HTTPTransportError/Code/configuration`` if the environment names one that cannot be used.
    func proxy(for address: WebAddress) throws(HTTPTransportError) -> NamedProxy? {
        guard !address.isLoopback, !exceptions.contains(where: { Self.covers($0, address) }) else { return nil }
        return try named.get()
    }

    /// Whether an entry of `NO_PROXY` is about `address`: a host or a domain, with or without a port.
    private static func covers(_ exception: String, _ address: WebAddress) -> Bool {
        if exception == "*" { return true }
        let star = exception.hasPrefix("*.") ? exception.dropFirst() : exception[...]
        let domain = star.hasPrefix(".") ? star.dropFirst() : star
        guard !domain.isEmpty else { return false }
        let names = [address.host, address.urlHost, "\(address.urlHost):\(address.port)"]
        return names.contains { $0 == domain || $0.hasSuffix("." + domain) }
    }

    private static func named(in environment: [String: String]) -> Result<NamedProxy?, HTTPTransportError> {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let url = environment[name] else {
            return .success(nil)
        }
        do throws(HTTPTransportError) {
            return .success(NamedProxy(proxy: try proxy(url, from: name), variable: name))
        } catch {
            return .failure(error)
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

/// A proxy, and the variable of the environment that names it.
struct NamedProxy: Sendable {
    let proxy: HTTPClient.Configuration.Proxy
    let variable: String

    /// Where it is, without its password.
    var name: String { "\(proxy.host):\(proxy.port)" }

    /// What the proxy answered instead of making a connection; nil if `error` is something else.
    func refusal(_ error: any Error, to host: String) -> HTTPTransportError? {
        if let problem = Self.problemOfSOCKS(error) {
            guard problem == "InvalidAuthenticationSelection" else { return .refused(host: host, proxy: name) }
            return .configuration(
                "the SOCKS proxy \(name) wants a user, which is not supported",
                "name a SOCKS proxy that asks for no user, or an http proxy, in \(variable)"
            )
        }
        guard let error = error as? HTTPClientError else { return nil }
        if error == .invalidProxyResponse { return .refused(host: host, proxy: name) }
        guard error == .proxyAuthenticationRequired else { return nil }
        return proxy.authorization == nil
            ? .configuration(
                "the proxy \(name) wants a user name and a password",
                "write them in \(variable), such as http://user:password@\(name)"
            )
            : .configuration(
                "the proxy \(name) does not accept the user name and the password in \(variable)",
                "correct them"
            )
    }

    /// What a SOCKS proxy did instead of making a connection, by the name of the error; nil if it is something else.
    ///
    /// The errors come from a library below the HTTP client, which is no dependency here, so that their types cannot be
    /// named in code. One of the client itself says that the proxy ended the connection before it answered.
    private static func problemOfSOCKS(_ error: any Error) -> String? {
        let kind = String(reflecting: type(of: error))
        let isOfEnding = kind.hasPrefix("AsyncHTTPClient.SOCKSEventsHandler.")
        guard kind.hasPrefix("NIOSOCKS.") || isOfEnding else { return nil }
        return kind.split(separator: ".").last.map { String($0) }
    }
}
