import ArgumentParser
import OAuth
import Sealing
import TokenStorage

struct ExecCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        _superCommandName: "tokenstore",
        abstract: "Run a command with a token in an environment variable.",
        discussion: """
            COMMAND takes the place of this program: it gets the signals, and its exit status is that of 'tokenstore'. \
            No shell is involved. The token is in no argument of COMMAND, as other users of the machine can see those. \
            If there is no token, COMMAND does not run. The passphrase, the key and the server's address of the store \
            (TOKENSTORE_PASSPHRASE, TOKENSTORE_KEY, TOKENSTORE_DATABASE_URL, and TOKENSTORE_PATH where it names a \
            server) are not handed on, nor is the file of --key passphrase:fd=N.

            EXAMPLES
              tokenstore exec --scope api://todo/Read -- ./sync.sh
              tokenstore exec --scope https://ossrdbms-aad.database.windows.net/.default \\
                --env PGPASSWORD -- psql -h db.example.com -U mara@example.net tasks
              tokenstore exec --scope api://todo/Read -- sh -c \\
                'printf "header = \\"Authorization: Bearer %s\\"" "$ACCESS_TOKEN" |
                curl -K - https://api.example.com/'
            """
    )

    @Option(help: ArgumentHelp("The variable that holds the token.", valueName: "name"))
    var env = VariableName.usual

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command and its arguments, after --.", valueName: "command")
    )
    var command: [String] = []

    func validate() throws {
        try VariableName.require(env, of: "--env")
        guard let program = command.first, !program.isEmpty else {
            throw ValidationError("no command is given", hint: "write it behind --, as in 'tokenstore exec -- env'")
        }
    }

    /// The variable of the store, where it has the address of a server: a password may be in it.
    private var serverVariable: [String] {
        let name = "TOKENSTORE_PATH"
        return StoreArguments.environment[name].map(StoreLocation.isMeantAsAddress) == true ? [name] : []
    }

    func run() throws {
        let replacement = ProcessReplacement(withholding: arguments.key?.passphraseDescriptor)
        let token = try acquisition.token(on: arguments.console)
        try token.requireUnbound()
        // Before its end the token is in this process alone.
        try replacement.run(
            StartBytes.lastArguments(command),
            setting: (env, token.secret.reveal()),
            without: ["TOKENSTORE_PASSPHRASE", "TOKENSTORE_KEY", "TOKENSTORE_DATABASE_URL"] + serverVariable
        )
    }
}
