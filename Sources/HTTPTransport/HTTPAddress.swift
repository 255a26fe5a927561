import OAuth

/// The parts of a URL that decide whether and how a request is sent.
package struct HTTPAddress: Hashable, Sendable {
    package let scheme: String
    private let place: HostAndPort

    /// Reads `url`; nil unless it is `https`, or `http` on a loopback address, and names no user.
    package init?(_ url: String) {
        guard let address = WebAddress(url), address.isSecure else { return nil }
        scheme = address.scheme
        place = address.place
    }

    /// Without port, lower-cased; an IPv6 address without its brackets.
    package var host: String { place.host }

    package var port: Int { place.port }

    /// Whether the host is this machine, by its number or as `localhost`.
    package var isLoopback: Bool { place.isLoopback }

    /// The host with its port unless that is the scheme's own.
    package var name: String { place.name }
}
