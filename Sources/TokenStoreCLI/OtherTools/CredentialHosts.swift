import ArgumentParser
import OAuth

/// The hosts that may have a token: any other gets none, whatever asks for it.
package struct CredentialHosts: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A host that may have the token, with its port unless that is the usual one; repeatable.",
            valueName: "host"
        ),
        transform: { text in
            guard let host = HostAndPort(text, usualPort: 443) else {
                throw ValidationError("'\(text)' is not a host", hint: "give one such as git.example.com")
            }
            return host
        }
    )
    var host: [HostAndPort] = []

    @Option(
        help: ArgumentHelp("The username to give beside the token, where the tool has none.", valueName: "name"),
        transform: { text in
            // Each goes into a line of a protocol.
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw ValidationError("--username is empty or has control characters", hint: "give a name")
            }
            return text
        }
    )
    var username: String?

    init() {}

    /// The hosts that are no mistake.
    package init(hosts: [String]) { host = hosts.compactMap { HostAndPort($0, usualPort: 443) } }

    func validate() throws {
        guard !host.isEmpty else {
            throw ValidationError("no host is named that may have the token", hint: "name one with --host")
        }
    }

    /// Whether `place` may have the token over `scheme`: never in the clear, but on this machine.
    package func include(_ place: String, over scheme: String) -> Bool {
        guard let wanted = HostAndPort(place, usualPort: scheme == "http" ? 80 : 443),
            scheme == "https" || scheme == "http" && wanted.isLoopback
        else { return false }
        return host.contains { $0.host == wanted.host && $0.port == wanted.port }
    }

    /// The same for a registry, which comes as a host or as an address.
    package func include(registry: String) -> Bool {
        guard registry.contains("://") else { return include(String(registry.prefix { $0 != "/" }), over: "https") }
        guard let address = WebAddress(registry) else { return false }
        return include("\(address.urlHost):\(address.port)", over: address.scheme)
    }
}
