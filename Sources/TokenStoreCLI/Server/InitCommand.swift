import ArgumentParser
import TokenStorage

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        _superCommandName: "tokenstore",
        abstract: "Make a store, on a server or in a file.",
        discussion: """
            On a PostgreSQL server the store is a schema with its tables. It is made once, by a role that may create \
            tables; programs then sign in with a role that may not. --key names where the key comes from: it must be a \
            source that every machine of the fleet has. A store that is there already stays as it is, but an empty one \
            whose key is lost gets one at another place that --key names. In a file the first sign-in makes the store as \
            well.

            With --distribute the rows of accounts are spread over the machines of a Citus cluster, those of one account \
            on one of them. The database needs the extension first: CREATE EXTENSION citus, by an administrator.

            A password is never given as an argument: use a password file (PGPASSFILE), a service file, a client \
            certificate or TOKENSTORE_DATABASE_URL.

            EXAMPLES
              tokenstore init --store postgresql://owner@db.example/sessions \\
                  --key file:/etc/tokenstore.key --application-role web
              tokenstore init --store postgresql://owner@db.example/sessions \\
                  --key file:/etc/tokenstore.key --distribute
              tokenstore init --store ./sessions/
            """
    )

    @Option(help: ArgumentHelp("The role that programs use: it reads and writes rows, and no more.", valueName: "role"))
    var applicationRole: String?

    @Option(help: ArgumentHelp("A role that reads what is not sealed.", valueName: "role"))
    var auditRole: String?

    @Flag(help: "Spread the store over the machines of a Citus cluster; the address names its coordinator.")
    var distribute = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard applicationRole != "", auditRole != "" else {
            throw ValidationError("the name of a role is empty", hint: "name a role of the server")
        }
    }

    func run() throws {
        let console = arguments.console
        let location = try arguments.location
        guard location.path == nil || applicationRole == nil && auditRole == nil else {
            throw ValidationError("a file has no roles", hint: "leave --application-role and --audit-role out")
        }
        guard location.path == nil || !distribute else {
            throw ValidationError("a file is on one machine", hint: "leave --distribute out")
        }
        let roles = ServerRoles(application: applicationRole, audit: auditRole)
        let isNew = try TokenStore.create(
            at: location,
            options: arguments.options(),
            granting: roles,
            isDistributed: distribute
        )
        let status = try TokenStore.inspect(at: location, options: arguments.options(unlocks: false))?.status()
        if arguments.json {
            return try console.document {
                $0.member("location", location.description)
                $0.member("created", isNew)
                $0.member("keySource", status?.keySource)
                $0.member("storeSchemaVersion", status?.schemaVersion)
            }
        }
        guard !console.isQuiet else { return }
        let key = status.map { ", key source \($0.keySource)" } ?? ""
        try console.line(
            ((isNew ? "made a store at " : "there is a store already at ") + "\(location)\(key)").printable
        )
        try console.output.flush()
        guard !isNew else { return }
        if let applicationRole {
            console.note("the store stays as it is, and the role \(applicationRole) may use it now")
        }
        if let auditRole {
            console.note("the store stays as it is, and the role \(auditRole) may read in SQL now what is not sealed")
        }
    }
}
