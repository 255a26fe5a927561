import ArgumentParser
import OAuth

struct TokenCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "token",
        _superCommandName: "tokenstore",
        abstract: "Print a usable access token, refreshed if needed.",
        discussion: """
            The token is read from the store, or requested from the issuer with a refresh token. The command never \
            prompts: if a sign-in is needed, the exit status is 4. Processes that need the same token share one \
            request to the issuer. --client-id may be left out if the account has tokens of one client only. For a \
            guest, --tenant names the tenant of the token. Default: the home tenant. A token that is bound to a key \
            (login --dpop) is printed as text or json only.

            --output writes the bare token into FILE, which takes its name only when it is whole; with --watch the \
            command stays and writes each new token of the account before the old one ends.

            EXAMPLES
              tokenstore token --scope api://todo/Read --format header | \\
                curl -H @- https://api.example.com/
              tokenstore token --account mara@example.net --scope api://todo/Read \\
                --min-ttl 600
              eval "$(tokenstore token --scope api://todo/Read --export --env-name TOKEN)"
              tokenstore token --scope api://todo/Read --output /run/user/1000/token --watch
            """
    )

    @Option(
        help: ArgumentHelp("text, json, header, env (for sh, bash and zsh) or exec-credential.", valueName: "format")
    )
    var format: TokenFormat?

    @Option(help: ArgumentHelp("The variable of --format env. Default: ACCESS_TOKEN.", valueName: "name"))
    var envName: String?

    @Flag(help: "With --format env: export the variable.")
    var export = false

    @Option(
        help: ArgumentHelp(
            "Write the bare token into this file (mode 0600, by a rename); - for standard output.",
            valueName: "file"
        ),
        completion: .file()
    )
    var output: String?

    @Flag(help: "With --output: stay, and keep the token in the file fresh.")
    var watch = false

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        let isForShell = envName != nil || export
        if isForShell, let format, format != .env {
            throw ValidationError("--env-name and --export are for --format env", hint: "leave --format out")
        }
        let isDocument = [nil, .json, .execCredential].contains(format)
        if arguments.json, isForShell || !isDocument {
            throw ValidationError(
                "--json prints one JSON document",
                hint: "leave --json out, or --format, --env-name and --export"
            )
        }
        if output != nil, isForShell || format ?? .text != .text {
            throw ValidationError("--output writes the bare token", hint: "leave --format, --env-name and --export out")
        }
        if output == "" { throw ValidationError("--output is empty", hint: "name a file") }
        if watch, [nil, "-"].contains(output) {
            throw ValidationError("--watch needs the file of --output", hint: "name a file")
        }
        if watch, token.cached || arguments.json {
            throw ValidationError("--watch excludes --cached and --json", hint: "leave them out")
        }
        if let envName { try VariableName.require(envName, of: "--env-name") }
    }

    func run() throws {
        let console = arguments.console
        if let output, output != "-" {
            let file = TokenFile(path: output, acquisition: acquisition)
            if watch { try file.watch(on: console) }
            return try file.write(on: console)
        }
        let format = format ?? (envName != nil || export ? .env : arguments.json ? .json : .text)
        let assignment = TokenFormat.Assignment(name: envName ?? VariableName.usual, isExported: export)
        try format.write(acquisition.token(on: console), as: assignment, on: console)
    }
}

/// The name of an environment variable.
enum VariableName {
    /// The one that holds a token where none is named.
    static let usual = "ACCESS_TOKEN"

    /// Throws unless a shell can have a variable of this name.
    static func require(_ name: String, of option: String) throws {
        let isName = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        }
        let isDigit = name.utf8.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard isName, isDigit == false else {
            throw ValidationError(
                "\(option) is not the name of a variable",
                hint: "give one of letters, digits and _, such as \(usual)"
            )
        }
    }
}
