#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A URL with a host ([RFC 3986 §3](https://www.rfc-editor.org/rfc/rfc3986#section-3)), as far as it says who is asked.
package struct WebAddress: Sendable {
    /// Lower-cased.
    package let scheme: String
    private let place: HostAndPort

    /// The path, the query and the fragment, as they are written.
    package let rest: Substring

    /// Reads `url`; nil unless it is printable ASCII that names a host and no user.
    package init?(_ url: String) {
        // A backslash is a slash to some readers, and no part of a URL to others.
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8)
        else { return nil }
        scheme = url[..<colon].lowercased()
        guard Self.isScheme(scheme) else { return nil }
        let text = url[url.utf8.index(colon, offsetBy: 3)...]
        let authority = text[..<(text.utf8.firstIndex(where: Self.endsAuthority) ?? text.endIndex)]
        guard let place = HostAndPort(authority, usualPort: scheme == "https" ? 443 : 80) else { return nil }
        self.place = place
        rest = text[authority.endIndex...]
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// A letter, then letters, digits and three signs (RFC 3986 §3.1).
    private static func isScheme(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = text.utf8.first, letters.contains(first) else { return false }
        return text.utf8.allSatisfy { letters.contains($0) || "0123456789+-.".utf8.contains($0) }
    }

    /// Reads `url`; nil unless secrets may be sent there.
    package init?(secure url: String) {
        self.init(url)
        guard isSecure else { return nil }
    }

    /// Whether secrets may be sent there: by `https`, or by `http` to this machine.
    package var isSecure: Bool { scheme == "https" || scheme == "http" && isLoopback }

    /// Without port, lower-cased; an IPv6 address without its brackets.
    package var host: String { place.host }

    /// The host as a URL has it: an IPv6 address in brackets.
    package var urlHost: String { place.urlHost }

    package var port: Int { place.port }

    /// Whether the host is this machine, by its number or as `localhost`.
    package var isLoopback: Bool { place.isLoopback }

    /// The host with its port unless that is the scheme's own.
    package var name: String { place.name }

    /// The scheme and the host with its port ([RFC 6454](https://www.rfc-editor.org/rfc/rfc6454)).
    package var origin: String { "\(scheme)://\(name)" }
}

/// The part of a URL that says where it leads ([RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2)).
///
/// One text has one meaning: what another reader could take for another place is not read at all.
package struct HostAndPort: Sendable {
    /// Lower-cased; an IPv6 address without its brackets.
    package let host: String
    package let port: Int
    private let usualPort: Int

    /// Reads `name`, `name:port`, `[address]` or `[address]:port`; nil for anything else, such as what names a user.
    package init?(_ text: some StringProtocol, usualPort: Int) {
        let text = text.lowercased()
        let end =
            text.utf8.first == UInt8(ascii: "[")
            ? text.utf8.firstIndex(of: UInt8(ascii: "]")).map(text.utf8.index(after:))
            : text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        guard let end, let host = Self.host(text[..<end]),
            let port = end == text.endIndex ? usualPort : Self.port(text[end...])
        else { return nil }
        (self.host, self.port, self.usualPort) = (host, port, usualPort)
    }

    private static func host(_ text: Substring) -> String? {
        let isAddress = text.utf8.first == UInt8(ascii: "[")
        let host = String(Substring(isAddress ? text.utf8.dropFirst().dropLast() : text.utf8))
        guard !host.isEmpty, isAddress ? isIPv6(host) : host.utf8.allSatisfy(isOfName) else { return nil }
        return host
    }

    /// Whether it is an address of IPv6, which alone stands in brackets; without a zone, which only this machine knows.
    private static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return text.utf8.allSatisfy(isOfAddress) && inet_pton(AF_INET6, text, &address) == 1
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        case UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// The port behind a host: neither with a sign nor with a leading zero, or one place could be written in many ways.
    private static func port(_ text: Substring) -> Int? {
        let digits = Substring(text.utf8.dropFirst())
        guard text.utf8.first == UInt8(ascii: ":"), let port = Int(digits), (1...65_535).contains(port),
            String(port) == digits
        else { return nil }
        return port
    }

    /// A host as `text` writes it, but without the usual port; nil for what is no host.
    ///
    /// That port is no part of an origin: with it, one host would be two.
    package static func named(_ text: String, usualPort: Int) -> String? {
        // Some other letters have one of ASCII for their small one.
        guard text.utf8.allSatisfy({ $0 < 0x80 }), let place = HostAndPort(text, usualPort: usualPort) else {
            return nil
        }
        let end = ":\(usualPort)"
        return place.port == usualPort && text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
            ? String(text.dropLast(end.utf8.count)) : text
    }

    /// Whether the host is this machine, by its number or as `localhost`.
    package var isLoopback: Bool {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1"
            || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    /// The host as a URL has it: an IPv6 address in brackets.
    package var urlHost: String { host.contains(":") ? "[\(host)]" : host }

    /// The host as a URL has it, with its port unless that is the usual one.
    package var name: String { port == usualPort ? urlHost : "\(urlHost):\(port)" }
}
