import ArgumentParser
import OAuth

struct CredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        _superCommandName: "tokenstore",
        abstract: "Be the credential helper of git, Docker, AWS, Google Cloud or Kubernetes.",
        discussion: """
            Each speaks the protocol of that tool on standard input and output. Its --help shows the lines to put into \
            the tool's configuration.

            EXAMPLES
              tokenstore credential git --help
              tokenstore credential kubernetes --scope api://cluster/.default
            """,
        subcommands: [
            GitCredentialCommand.self, DockerCredentialCommand.self, AWSCredentialCommand.self,
            GoogleCredentialCommand.self, KubernetesCredentialCommand.self,
        ]
    )
}

struct KubernetesCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubernetes",
        _superCommandName: "tokenstore credential",
        abstract: "Be a credential plugin of kubectl and other Kubernetes clients.",
        discussion: """
            Prints an ExecCredential in the version that KUBERNETES_EXEC_INFO asks for: v1 or v1beta1. A cluster that \
            knows its users by OpenID Connect wants the ID token (--id-token).

            ~/.kube/config
              users:
              - name: mara
                user:
                  exec:
                    apiVersion: client.authentication.k8s.io/v1
                    command: tokenstore
                    args: [credential, kubernetes, --account, mara@example.net, --id-token]
                    interactiveMode: Never

            EXAMPLES
              tokenstore credential kubernetes --account mara@example.net --id-token
            """
    )

    @OptionGroup var acquisition: TokenAcquisition

    func run() throws {
        let console = acquisition.arguments.console
        let request = try KubernetesExecution.requested()
        let token = try acquisition.token(on: console)
        try token.requireUnbound()
        try console.line(request.credential(token))
        try console.output.flush()
    }
}

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
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        return include("\(host):\(address.port)", over: address.scheme)
    }
}
