import Foundation
import IssuerSupport
import OAuth
import TestSupport
import TestTraits
import Testing

/// The credential plugin of Kubernetes clients, by `KUBERNETES_EXEC_INFO`, and with kubectl.
@Suite(.onWaitingThreads)
struct KubernetesCredentialTests {
    private static let group = "client.authentication.k8s.io/"
    private static let commands = [["credential", "kubernetes"], ["token", "--format", "exec-credential"]]
    private let token = CachedUser.mara.secret("access")

    private static func request(_ version: String, kind: String = "ExecCredential") -> [String: String] {
        let text = #"{"apiVersion":"\#(version)","kind":"\#(kind)","spec":{"interactive":false}}"#
        return ["KUBERNETES_EXEC_INFO": text]
    }

    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        return scratch
    }

    @Test(arguments: commands, ["v1", "v1beta1"])
    func `the answer is in the version that is asked for`(command: [String], version: String) throws {
        let outcome = try Self.filled().command(
            command + ["--scope", "tasks.read"],
            Self.request(Self.group + version)
        )
        #expect(outcome.status == 0, "\(outcome.error)")
        let json = try outcome.json
        #expect(json["apiVersion"] as? String == Self.group + version)
        #expect(json["kind"] as? String == "ExecCredential")
        let status = json["status"] as? [String: String]
        #expect(status?["token"] == token)
        #expect(status?["expirationTimestamp"]?.hasSuffix("Z") == true)
    }

    @Test(arguments: [[:], ["KUBERNETES_EXEC_INFO": ""]])
    func `without a request it is version 1`(environment: [String: String]) throws {
        let outcome = try Self.filled().command(["credential", "kubernetes", "--scope", "tasks.read"], environment)
        #expect(try outcome.json["apiVersion"] as? String == Self.group + "v1")
    }

    @Test(arguments: [
        request(group + "v1alpha1"), request(group + "v9"), request("v1"), request(group + "v1", kind: "Pod"),
        ["KUBERNETES_EXEC_INFO": "{"], ["KUBERNETES_EXEC_INFO": "[]"],
    ])
    func `a request that is not known gets no token`(environment: [String: String]) throws {
        let outcome = try Self.filled().command(["credential", "kubernetes", "--scope", "tasks.read"], environment)
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty)
    }

    @Test(
        .enabled(
            if: Tool.kubectl.isInstalled && Tool.python.isInstalled,
            "needs kubectl: apt install kubernetes-client"
        ),
        .enabled(if: PrivateAuthority.isAvailable, "needs openssl"),
        arguments: ["v1beta1", "v1"]
    )
    func `kubectl signs in by the lines of the help text`(version: String) async throws {
        guard try version == "v1beta1" || Self.knowsVersion1 else { return }
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let authority = try PrivateAuthority()
            let token = try await scene.tokens(1, "--id-token")[0].output.dropLast().description
            let scratch = scene.scratch
            let files = (authority.chain, authority.key)
            try await FixtureServer.running("bearer_server.py", files.0, files.1, token, in: scratch) { port in
                try scratch.write(try Self.configuration(version, port, authority), to: "kubeconfig")
                let arguments = ["--kubeconfig", scratch.path("kubeconfig"), "get", "--raw", "/version"]
                let outcome = try await Tool.kubectl.run(arguments, in: scratch)
                #expect(outcome.output.contains(#""major":"1""#), "\(outcome.error)")
            }
        }
    }

    /// A cluster on loopback, and the user of the help text.
    private static func configuration(_ version: String, _ port: Int, _ authority: PrivateAuthority) throws -> String {
        let user = try PastedLines(under: "~/.kube/config", of: ["credential", "kubernetes"]).text
            .replacing("mara@example.net", with: "ana.rojas@example.org")
            .replacing(group + "v1", with: group + version)
        return """
            apiVersion: v1
            kind: Config
            clusters:
            - name: here
              cluster: {server: 'https://127.0.0.1:\(port)', certificate-authority: '\(authority.path)'}
            contexts:
            - name: here
              context: {cluster: here, user: mara}
            current-context: here
            \(user)
            """
    }

    /// kubectl reads version 1 since 1.22.
    private static var knowsVersion1: Bool {
        get throws {
            let text = try Shell.run(Tool.kubectl.path ?? "", "version", "--client", "-o", "json")
            let versions = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let minor = (versions?["clientVersion"] as? [String: Any])?["minor"] as? String ?? "0"
            return (Int(minor.prefix { $0.isNumber }) ?? 0) >= 22
        }
    }
}
