import ArgumentParser
import OAuth

struct GitCredentialCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "git",
        _superCommandName: "tokenstore credential",
        abstract: "Be a credential helper of git: the token is the password.",
        discussion: """
            git adds get, store or erase. 'get' answers for the hosts of --host only, over https (http on this \
            machine); for others it is silent, and git asks its next helper. 'store' does nothing. 'erase', which git \
            sends when a host refuses the token, has it refreshed. If there is no token, git does not ask for a \
            password.

            The username is that of the address, else --username, else oauth2. --bearer sends the token as a bearer \
            token to git 2.46 and newer.

            ~/.gitconfig
              [credential "https://git.example.com"]
                helper =
                helper = !tokenstore credential git --host git.example.com \\
                  --scope api://git/Use

            EXAMPLES
              git config --global credential.https://git.example.com.helper \\
                '!tokenstore credential git --host git.example.com --scope api://git/Use'
            """
    )

    @OptionGroup var hosts: CredentialHosts

    @Flag(help: "Have the token sent as a bearer token, where git can.")
    var bearer = false

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    @Argument(help: ArgumentHelp("get, store or erase.", valueName: "operation"))
    var operation: String

    func run() throws {
        let request = try GitCredential(reading: ProtocolInput())
        guard let scheme = request["protocol"], let place = request["host"], hosts.include(place, over: scheme) else {
            return
        }
        switch operation {
        case "get": try get(request)
        case "erase": try erase(request)
        // git asks helpers to ignore what they do not know.
        default: return
        }
    }

    private func get(_ request: GitCredential) throws {
        let console = arguments.console
        do {
            let token = try acquisition.token(on: console)
            try token.requireUnbound()
            for (name, value) in answer(request, token) { try console.line("\(name)=\(value)") }
        } catch {
            // Else git would ask for a password, which the host does not know.
            try console.line("quit=1")
            try console.output.flush()
            throw error
        }
        try console.output.flush()
    }

    private func answer(_ request: GitCredential, _ token: HandedToken) -> [(String, String)] {
        let end = ("password_expiry_utc", String(token.end.epoch))
        if bearer, request.capabilities.contains("authtype") {
            return [
                ("capability[]", "authtype"), ("authtype", token.scheme), ("credential", token.secret.reveal()),
                ("ephemeral", "1"), end,
            ]
        }
        let username = request["username"] ?? hosts.username ?? "oauth2"
        return [("username", username), ("password", token.secret.reveal()), end]
    }

    /// Has a token refreshed that a host refused, if it is the one that would be handed out again.
    private func erase(_ request: GitCredential) throws {
        guard let refused = request["password"] ?? request["credential"] else { return }
        var asking = acquisition
        asking.token.cached = true
        asking.token.forceRefresh = false
        asking.token.claims = nil
        asking.arguments.quiet = true
        // Nothing to renew where the store has no token.
        guard let stored = try? asking.token(on: asking.arguments.console), stored.secret == Secret(refused) else {
            return
        }
        asking.token.cached = false
        asking.token.forceRefresh = true
        _ = try asking.token(on: asking.arguments.console)
    }
}

/// What git asks, in the format of [git-credential](https://git-scm.com/docs/git-credential#IOFMT).
package struct GitCredential {
    private var attributes: [String: String] = [:]

    /// What git can do beyond names and passwords.
    private(set) var capabilities: [String] = []

    package subscript(name: String) -> String? { attributes[name] }

    /// Reads lines up to an empty one or the end.
    package init(reading input: ProtocolInput) throws {
        while let line = try input.line(), !line.isEmpty {
            let bytes = line.utf8
            guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else {
                throw CommandFailure(.failure, "git sent a line without =", "let git run this command")
            }
            let (name, value) = (String(line[..<sign]), String(line[bytes.index(after: sign)...]))
            if name == "capability[]" { capabilities.append(value) }
            attributes[name] = value
        }
    }
}
