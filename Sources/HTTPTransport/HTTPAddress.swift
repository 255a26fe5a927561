/// The parts of a URL that decide whether and how a request is sent.
package struct HTTPAddress: Hashable, Sendable {
    package let scheme: String

    /// Without port, lower-cased; an IPv6 address without its brackets.
    package let host: String
    package let port: Int

    /// Reads `url`; nil unless it is `https`, or `http` on a loopback address, and names no user.
    package init?(_ url: String) {
        guard let colon = url.firstRange(of: "://"), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        let authority = url[colon.upperBound...].prefix { !"/?#\\".contains($0) }.lowercased()
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        let isBracketed = authority.hasPrefix("[")
        guard
            let end = isBracketed ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":") ?? authority.endIndex
        else { return nil }
        host = String(isBracketed ? authority[authority.index(after: authority.startIndex)..<end] : authority[..<end])
        let rest = authority[end...].drop { $0 == "]" }
        guard let port = rest.isEmpty ? (scheme == "https" ? 443 : 80) : Int(rest.dropFirst()), !host.isEmpty,
            (1...65535).contains(port), rest.isEmpty || rest.hasPrefix(":")
        else { return nil }
        self.port = port
        guard scheme == "https" || scheme == "http" && isLoopback else { return nil }
    }

    /// Whether the host is this machine, by its number or as `localhost`.
    package var isLoopback: Bool {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1"
            || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    /// The host with its port unless that is the scheme's own.
    package var name: String {
        let shown = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? shown : "\(shown):\(port)"
    }
}
