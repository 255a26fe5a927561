import ArgumentParser
import OAuth
import TokenStorage

struct DockerCredentialCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "docker",
        _superCommandName: "tokenstore credential",
        abstract: "Be a credential helper of Docker: the token is the password of a registry.",
        discussion: """
            Docker adds get, list, store, erase or version, and looks for a program called docker-credential-NAME. 'get' \
            and 'list' know the registries of --host only. 'store' and 'erase' are refused: the session is the \
            store's, and 'docker login' is not needed. The username is --username, else oauth2.

            /usr/local/bin/docker-credential-tokenstore (chmod +x)
              #!/bin/sh
              exec tokenstore credential docker --host registry.example.com \\
                --scope api://registry/Pull "$@"

            ~/.docker/config.json
              {"credHelpers": {"registry.example.com": "tokenstore"}}

            EXAMPLES
              echo registry.example.com | docker-credential-tokenstore get
            """
    )

    /// The words by which Docker knows that a helper has no credentials of a registry, and goes on without.
    private static let notFound = "credentials not found in native keychain"

    @OptionGroup var hosts: CredentialHosts

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    @Argument(help: ArgumentHelp("get, list, store, erase or version.", valueName: "operation"))
    var operation: String

    private var username: String { hosts.username ?? "oauth2" }

    func run() throws {
        let console = arguments.console
        do {
            try answer(on: console)
        } catch {
            // Docker shows what is on standard output.
            let failure = CommandFailure(error).naming(console.given)
            try console.line(
                failure.message == Self.notFound ? Self.notFound : "tokenstore: \(failure.sentence)".printable
            )
            try console.output.flush()
            throw failure
        }
        try console.output.flush()
    }

    private func answer(on console: Console) throws {
        switch operation {
        case "get": try get(ProtocolInput().all(), on: console)
        case "list":
            var json = JSONOutput()
            json.object { list in
                for host in hosts.host { list.member(named: host.name, username) }
            }
            try console.line(json.text)
        case "version": try console.line("tokenstore \(TokenStore.version)")
        case "store", "erase":
            throw CommandFailure(
                .failure,
                "the credentials of a registry are kept by 'tokenstore login'",
                "leave 'docker login' and 'docker logout' out, or use 'tokenstore logout'"
            )
        default:
            throw CommandFailure(
                .usage,
                "'\(operation)' is not an operation",
                "give get, list, store, erase or version"
            )
        }
    }

    private func get(_ input: String, on console: Console) throws {
        let server = String(decoding: input.utf8.filter { $0 > 0x20 }, as: UTF8.self)
        guard hosts.include(registry: server) else { throw CommandFailure(.noMatch, Self.notFound, nil) }
        let token = try acquisition.token(on: console)
        try token.requireUnbound()
        var json = JSONOutput()
        json.object {
            $0.member("ServerURL", server)
            $0.member("Username", username)
            $0.member("Secret", token.secret.reveal())
        }
        try console.line(json.text)
    }
}
