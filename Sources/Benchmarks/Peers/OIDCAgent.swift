/// oidc-agent, whose daemon keeps tokens in memory and whose commands ask it.
struct OIDCAgent: Peer {
    static let name = "oidc-agent"
    private static let programs = ["oidc-agent", "oidc-gen", "oidc-add", "oidc-token"]
    let version: String
    private let paths: [String: String]

    /// Nil where one of its programs is missing.
    init?() throws {
        var paths: [String: String] = [:]
        for name in Self.programs {
            guard let path = ChildProcess.path(of: name) else { return nil }
            paths[name] = path
        }
        self.paths = paths
        let said = try ChildProcess(paths["oidc-agent"] ?? "", ["--version"]).output()
        version = String(said.split(separator: "\n").first?.split(separator: " ").last ?? "")
    }

    func program(_ name: String, _ arguments: [String], environment: [String: String]) -> ChildProcess {
        ChildProcess(paths[name] ?? name, arguments, environment: environment)
    }
}
