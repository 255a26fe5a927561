import OAuth

/// The parts of a URL that decide whether and how a request is sent.
package struct HTTPAddress: Hashable, Sendable {
    package let scheme: String
    private let place: HostAndPort

    /// Reads `url`; nil unless it is `https`, or `http` on a loopback address, and names no user.
    package init?(_ url: String) {
        // A backslash is a slash to some readers, and no part of a URL to others.
        guard let colon = url.firstRange(of: "://"),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        let text = url[colon.upperBound...].prefix { !"/?#".contains($0) }
        guard let place = HostAndPort(text, usualPort: scheme == "https" ? 443 : 80),
            scheme == "https" || scheme == "http" && place.isLoopback
        else { return nil }
        self.place = place
    }

    /// Without port, lower-cased; an IPv6 address without its brackets.
    package var host: String { place.host }

    package var port: Int { place.port }

    /// Whether the host is this machine, by its number or as `localhost`.
    package var isLoopback: Bool { place.isLoopback }

    /// The host with its port unless that is the scheme's own.
    package var name: String { place.name }
}
