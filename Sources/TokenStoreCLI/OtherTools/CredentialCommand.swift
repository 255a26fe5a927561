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
