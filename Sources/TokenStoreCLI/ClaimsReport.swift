import OAuth
import TokenStorage

/// The claims of an account, one ID token for each of its tenants, the newest first.
struct ClaimsReport {
    let account: AccountSummary?
    let profiles: [StoredIDToken]

    private static let times: Set<String> = ["iat", "exp", "nbf", "auth_time", "updated_at"]

    /// Throws if a claim is in none of the tokens.
    func require(_ names: [String]) throws {
        for name in names where first(name) == nil {
            throw CommandFailure(.noMatch, "there is no claim '\(name)'", "see all with 'tokenstore claims'")
        }
    }

    func document(_ names: [String], on console: Console) throws {
        try console.document {
            if let account {
                $0.object("account") { $0.members(of: account) }
            } else {
                $0.member("account", JSON.null)
            }
            $0.array("profiles", profiles) { profile, json in
                json.object {
                    $0.identifier("tenantId", profile.tenantID)
                    $0.identifier("clientId", profile.clientID)
                    $0.member("claims", .object(Self.claims(of: profile, names)))
                }
            }
        }
    }

    /// The bare value; on a terminal without what the terminal would obey.
    func value(_ name: String, on console: Console) throws {
        let text = first(name).map { $0.text ?? $0.serialized } ?? ""
        try console.line(console.terminal.isTerminal ? text.printable : text)
        try console.output.flush()
    }

    func text(_ names: [String], on console: Console) throws {
        for (index, profile) in profiles.enumerated() {
            if index > 0 { try console.line() }
            let tenant = profile.tenantID.isEmpty ? "" : "tenant \(profile.tenantID), "
            let heading = "\(tenant)client \(profile.clientID)".printable
            try console.line(console.terminal.styled(heading, .bold))
            let members = Self.claims(of: profile, names).members
            let width = members.reduce(0) { max($0, $1.name.printable.columns) }
            for (name, value) in members {
                let padding = String(repeating: " ", count: width - name.printable.columns)
                try console.line("  \(name.printable)\(padding)  \(Self.text(value, of: name, on: console))")
            }
        }
        try console.output.flush()
    }

    private func first(_ name: String) -> JSON? {
        profiles.lazy.compactMap { $0.idToken.claims[path: name] }.first
    }

    /// The payload as issued, or only what is asked for.
    private static func claims(of profile: StoredIDToken, _ names: [String]) -> JSON.Object {
        let claims = profile.idToken.claims
        guard !names.isEmpty else { return claims.payload }
        return JSON.Object(names.map { ($0, claims[path: $0] ?? .null) })
    }

    private static func text(_ value: JSON, of name: String, on console: Console) -> String {
        guard times.contains(name), case .number = value, let epoch = value.seconds else {
            return (value.text ?? value.serialized).printable
        }
        let instant = Timestamp(epoch)
        guard console.terminal.isTerminal else { return instant.description }
        return "\(instant) (\(RelativeTime(instant, from: console.now)))"
    }
}
