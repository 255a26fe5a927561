import ArgumentParser
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct KubernetesCredentialCommand: TokenConsumer {
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

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let request = try KubernetesExecution.requested()
        let token = try acquisition.token(on: console)
        try token.requireUnbound()
        try console.line(request.credential(token))
        try console.output.flush()
    }
}

/// What a Kubernetes client asks of a credential plugin, in `KUBERNETES_EXEC_INFO`
/// ([client authentication](https://kubernetes.io/docs/reference/config-api/client-authentication.v1/)).
package struct KubernetesExecution {
    private static let variable = "KUBERNETES_EXEC_INFO"
    private static let group = "client.authentication.k8s.io/"

    /// The version in which the answer is read.
    package let apiVersion: String

    /// The request in the environment; without one, the answer is in version 1.
    static func requested() throws -> KubernetesExecution {
        guard let text = StoreArguments.environment[variable], !text.isEmpty else {
            return KubernetesExecution(apiVersion: group + "v1")
        }
        return try KubernetesExecution(parsing: text)
    }

    private init(apiVersion: String) { self.apiVersion = apiVersion }

    package init(parsing text: String) throws {
        // Whatever is wrong with it, it is not what a client sends.
        guard let request = try? JSONValue(parsing: text).object, request["kind"]?.text == "ExecCredential",
            let version = request["apiVersion"]?.text
        else {
            throw CommandFailure(
                .failure,
                "\(Self.variable) is not an ExecCredential",
                "leave it to kubectl to set that variable"
            )
        }
        guard ["v1", "v1beta1"].contains(where: { version == Self.group + $0 }) else {
            throw CommandFailure(
                .failure,
                "the Kubernetes client asks for \(version), which is not known here",
                "set apiVersion: \(Self.group)v1 under exec in the kubeconfig"
            )
        }
        apiVersion = version
    }

    /// The answer.
    func credential(_ token: HandedToken) -> String {
        var json = JSONOutput()
        json.object {
            $0.member("apiVersion", apiVersion)
            $0.member("kind", "ExecCredential")
            $0.object("status") {
                $0.member("token", token.secret.reveal())
                $0.member("expirationTimestamp", token.end.description)
            }
        }
        return json.text
    }
}
