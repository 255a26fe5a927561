/// A URL with a host ([RFC 3986 §3](https://www.rfc-editor.org/rfc/rfc3986#section-3)), as far as it says who is asked.
package struct WebAddress: Sendable {
    /// Lower-cased.
    package let scheme: String
    package let place: HostAndPort

    /// The path, the query and the fragment, as they are written.
    package let rest: Substring

    /// Reads `url`; nil unless it is printable ASCII that names a host and no user.
    package init?(_ url: String) {
        // A backslash is a slash to some readers, and no part of a URL to others.
        guard let colon = url.firstRange(of: "://"),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        let text = url[colon.upperBound...]
        let authority = text.prefix { !"/?#".contains($0) }
        guard let place = HostAndPort(authority, usualPort: scheme == "https" ? 443 : 80) else { return nil }
        self.place = place
        rest = text[authority.endIndex...]
    }

    /// Whether secrets may be sent there: by `https`, or by `http` to this machine.
    package var isSecure: Bool { scheme == "https" || scheme == "http" && place.isLoopback }
}
