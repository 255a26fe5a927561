import OAuth
import Sealing
import TokenStorage

extension StoreLocation {
    /// Behind a command that takes a move back: who may.
    var undoingRole: String { path == nil ? ", with the role that owns the tables" : "" }
}

extension Remedy {
    /// What to do, in words for the command line: the library's, with the command or the option where there is one.
    var hint: String { hint(keyOption: "--key") }

    /// The same where the option that names the key is another one.
    func hint(keyOption: String) -> String {
        switch code {
        case .initialize: Self.makingStore
        case .migrate: "run 'tokenstore migrate' with the role that owns the tables"
        case .repair: "run 'tokenstore check --repair' to salvage what is there"
        case .check: "run 'tokenstore check'"
        case .startAnew: "restore a copy, or start anew with 'tokenstore purge --all', which deletes the rest"
        case .makeKey: Self.makingKey
        case .openForWriting: "run 'tokenstore migrate', which brings it up to date"
        case .purge: "run 'tokenstore purge' when it is done, which also deletes expired access tokens"
        case .allowMoreTime: "try again later or raise --timeout"
        case .choosePath: path.map { "name the file itself: --store \($0.shellWord)" } ?? "name the store with --store"
        case .setAside: path.map(Self.settingAside) ?? advice
        case .moveStore: "\(advice), and name that with --store or TOKENSTORE_PATH"
        case .resumeMove: "mend that and run it again, or take the move back with --undo and the source"
        case .finishCopy:
            "run its 'tokenstore copy' again to finish it, or empty this place with 'tokenstore purge --all'"
        case .undoMove:
            path.map {
                let role = (try? StoreLocation($0))?.undoingRole ?? ""
                return "if nobody moved it, take that back with 'tokenstore copy --undo \($0.shellWord)'" + role
            } ?? advice
        case .restrictAccess, .takeOwnership, .createDirectory: systemCommand ?? advice
        case .changeKey: keySource.map { "\(advice), such as \(keyOption) \($0)" } ?? "\(advice) with \(keyOption)"
        case .provideKey: keySource.map { "\(advice), such as \(keyOption) \($0)" } ?? advice
        case .moveKey where keyOption != "--key":
            "if you did not choose that source, somebody may have replaced the store: do not go on, and restore a backup; "
                + "if you did, leave \(keyOption) out"
        case .moveKey:
            keySource.map {
                "if you did not choose that source, somebody may have replaced the store: do not sign in, and restore a "
                    + "backup; if you did, leave --key out, or move the store with "
                    + "'tokenstore rekey --key \($0.shellWord)'"
            } ?? advice
        case .confirmFormat: "if it is one, say --format msal"
        case .useDevice: "\(advice): add --device"
        case .chooseDefault: "choose one with 'tokenstore use', or none with 'tokenstore use --unset'"
        case .rekey: "run 'tokenstore rekey', which leaves out such rows"
        case .trustAuthority: "name the right authorities with --ca-file"
        case .useFamilyTokens: "add --family-tokens, or sign in again"
        case .nameAuthority: "name its authority with --authority URL/USERFLOW, or sign in again"
        default: advice
        }
    }

    /// How a store on a server comes to be.
    static let makingStore =
        "make it with 'tokenstore init --key SOURCE' and a role that may create tables, or correct the address"

    /// A log that is left would keep a backup from the place of the store.
    private static func settingAside(_ file: String) -> String {
        let log = StorePath(file).hasLog ? [StorePath(file).log] : []
        // The log may be all that is left.
        let names = FileStatus.isAbsent(file) && !log.isEmpty ? log : [file] + log
        let moves = names.map { "mv \($0.shellWord) \(($0 + ".aside").shellWord)" }.joined(separator: " && ")
        return "name the store with --store, or, if this was it, move it away with '\(moves)' and restore a backup "
            + "with 'tokenstore restore FILE'"
    }

    private static let makingKey =
        "recover the database, or delete the rest with 'tokenstore purge --all' and make a new key with "
        + "'tokenstore init --key SOURCE' and the role that owns the tables"

    /// No program can tell which rows of a server were there: the server can go back to when they were.
    static let recovery =
        "a server's tables are not repaired row by row: recover the database to a moment before the damage"

    /// The command of the system that changes a file or a directory.
    private var systemCommand: String? {
        guard let file = path?.shellWord else { return nil }
        return switch code {
        case .restrictAccess: mode.map { "run 'chmod \($0) \(file)'" }
        case .takeOwnership: user.map { "run as that user, or 'chown \($0) \(file)'" }
        case .createDirectory: mode.map { "create it with 'mkdir -p -m \($0) \(file)'" }
        default: nil
        }
    }
}
