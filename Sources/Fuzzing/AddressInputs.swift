import OAuth
import TokenStorage
import TokenStoreCLI

/// The text that names a store: a file, a server, or a mistake.
struct StoreAddressInput: FuzzInput {
    func run(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        for isArgument in [true, false] {
            let location = try unlessRefused(by: TokenStoreError.self) {
                try StoreLocation(text, isArgument: isArgument)
            }
            // A file's name may be anything, also what an address begins with.
            guard let location, location.path == nil else { continue }
            try check(location)
            let isServer = ["postgresql://", "postgres://"].contains { text.lowercased().hasPrefix($0) }
            try hold(isServer, "\(text) is a file, unlike \(location)")
        }
    }

    /// An address that was read and written is read again as the same, and can be shown.
    private func check(_ location: StoreLocation) throws {
        let written = location.fullDescription
        let again = try StoreLocation(written, isArgument: true)
        try hold(again.fullDescription == written, "\(written) is one address, and not \(again.fullDescription)")
        try hold(again.isDescribed(by: written), "\(written) describes itself")
        try hold(!written.contains("password="), "\(written) has no password")
        let controls = location.description.unicodeScalars.filter { $0.properties.generalCategory == .control }
        try hold(controls.isEmpty, "an address is one line: \(location)")
    }
}

/// What git, Docker and Kubernetes send to a credential helper: no other host than the named one gets a token.
struct CredentialInput: FuzzInput {
    private static let host = "git.example.com"

    private let hosts = CredentialHosts(hosts: [host])

    func run(_ bytes: [UInt8]) throws {
        let request = try unlessRefused(by: CommandFailure.self) { try GitCredential(reading: ProtocolInput(bytes)) }
        if let request, let scheme = request["protocol"], let place = request["host"] {
            try check(hosts.include(place, over: scheme), scheme, place)
        }
        guard let text = try unlessRefused(by: CommandFailure.self, body: { try ProtocolInput(bytes).all() }) else {
            return
        }
        if hosts.include(registry: text) {
            let parts = text.contains("://") ? text.split(separator: "://", maxSplits: 1) : ["https", text[...]]
            let place = parts[1].prefix { !"/?#".contains($0) }
            try check(true, String(parts[0]), String(place))
        }
        let execution = try unlessRefused(by: CommandFailure.self) { try KubernetesExecution(parsing: text) }
        let isKnown = execution.map { ["v1", "v1beta1"].contains($0.apiVersion.split(separator: "/").last) } ?? true
        try hold(isKnown, "an answer is in a version that is known")
    }

    private func check(_ isIncluded: Bool, _ scheme: String, _ place: String) throws {
        guard isIncluded else { return }
        try hold(scheme.lowercased() == "https", "no token goes over \(scheme)")
        let names = [Self.host, Self.host + ":443"]
        try hold(names.contains { $0.utf8.elementsEqual(place.lowercased().utf8) }, "no token goes to \(place)")
    }
}
