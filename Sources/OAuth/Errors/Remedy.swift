/// What to do about an error, as data: a code for the program, the facts that the action needs, and words for a person.
public struct Remedy: Hashable, Sendable {
    /// The kind of action; a new version may add some.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name by which the code is compared and printed.
        public let rawValue: String

        /// A code of this name; a program may make its own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Salvage the store.
        public static let repair = Code(rawValue: "repair")
        /// Check the store for damage.
        public static let check = Code(rawValue: "check")
        /// Put a copy of the store or of its key in place.
        public static let restore = Code(rawValue: "restore")
        /// Restore a copy, or delete what is left of the store and begin a new one.
        public static let startAnew = Code(rawValue: "start_anew")
        /// Name the file of the store; ``Remedy/path`` is one that would do, if there is one.
        public static let choosePath = Code(rawValue: "choose_path")
        /// Name the file of the store, or move the file ``Remedy/path`` away, if it was that, and restore a copy.
        public static let setAside = Code(rawValue: "set_aside")
        /// Keep the store in another place.
        public static let moveStore = Code(rawValue: "move_store")
        /// Move the store again, which goes on where the move was, or take the move back.
        public static let resumeMove = Code(rawValue: "resume_move")
        /// Take a move of the store back; ``Remedy/path`` is where it was, if that is to be told.
        public static let undoMove = Code(rawValue: "undo_move")
        /// Make a store on a server that has none.
        public static let initialize = Code(rawValue: "initialize")
        /// Bring the store on a server up to date, with the role that owns it.
        public static let migrate = Code(rawValue: "migrate")
        /// Open the store for writing, which brings it up to date.
        public static let openForWriting = Code(rawValue: "open_for_writing")
        /// Delete old rows again, once nothing reads them any more.
        public static let purge = Code(rawValue: "purge")
        /// Try again, after ``Remedy/delay`` if there is one.
        public static let retry = Code(rawValue: "retry")
        /// Try again later, or with a longer time limit.
        public static let allowMoreTime = Code(rawValue: "allow_more_time")
        /// Close the other program that uses the store.
        public static let closeOtherProgram = Code(rawValue: "close_other_program")
        /// Make room on the disk or in memory.
        public static let freeSpace = Code(rawValue: "free_space")
        /// Install a newer version; ``Remedy/version`` is the oldest that will do.
        public static let update = Code(rawValue: "update")
        /// Install a library of the system.
        public static let install = Code(rawValue: "install")
        /// Give the file at ``Remedy/path`` the permissions ``Remedy/mode``.
        public static let restrictAccess = Code(rawValue: "restrict_access")
        /// Run as the owner of the file at ``Remedy/path``, or give it to the user ``Remedy/user``.
        public static let takeOwnership = Code(rawValue: "take_ownership")
        /// See that the file can be read and written.
        public static let checkPermissions = Code(rawValue: "check_permissions")
        /// Move or remove a file that is in the way.
        public static let removeFile = Code(rawValue: "remove_file")
        /// Make the directory ``Remedy/path``.
        public static let createDirectory = Code(rawValue: "create_directory")
        /// Name another key, or another source of keys.
        public static let changeKey = Code(rawValue: "change_key")
        /// Restore a copy if you did not choose the key source that the store names.
        ///
        /// If you did, name no key source, or move the store to the one you named, which is ``Remedy/keySource``.
        public static let moveKey = Code(rawValue: "move_key")
        /// Make the key source give its key: set a variable, unlock a keyring, provide a credential.
        public static let provideKey = Code(rawValue: "provide_key")
        /// Name one account, such as one of ``Remedy/candidates``.
        public static let nameAccount = Code(rawValue: "name_account")
        /// Have the user sign in.
        public static let signIn = Code(rawValue: "sign_in")
        /// Have the user sign in with a browser.
        public static let useBrowser = Code(rawValue: "use_browser")
        /// Have the user sign in with a device code.
        public static let useDevice = Code(rawValue: "use_device")
        /// Ask for fewer scopes or a shorter life, or have the user sign in again.
        public static let askForLess = Code(rawValue: "ask_for_less")
        /// Have the user give another answer.
        public static let answerAgain = Code(rawValue: "answer_again")
        /// Correct an argument or a setting.
        public static let correctArgument = Code(rawValue: "correct_argument")
        /// Say that the document is of the format, if it is.
        public static let confirmFormat = Code(rawValue: "confirm_format")
        /// Look at where a document or an address comes from.
        public static let checkSource = Code(rawValue: "check_source")
        /// Correct the clock of the machine.
        public static let correctClock = Code(rawValue: "correct_clock")
        /// See that the network works.
        public static let checkNetwork = Code(rawValue: "check_network")
        /// Trust the authority that signed the server's certificate.
        public static let trustAuthority = Code(rawValue: "trust_authority")
        /// Correct the client's registration at the issuer, or what the client asks for.
        public static let checkRegistration = Code(rawValue: "check_registration")
        /// Tell the operator of the issuer.
        public static let askOperator = Code(rawValue: "ask_operator")
        /// Choose the default account anew, or none.
        public static let chooseDefault = Code(rawValue: "choose_default")
        /// Have the owner of a store on a server give it a new data key, once it is empty.
        public static let makeKey = Code(rawValue: "make_key")
        /// Seal every value anew, which leaves out rows that were altered and count for nothing.
        public static let rekey = Code(rawValue: "rekey")
        /// Use the refresh tokens of other clients of the family, or have the user sign in.
        public static let useFamilyTokens = Code(rawValue: "use_family_tokens")
        /// Name the authority that refreshes the account's tokens, or have the user sign in.
        public static let nameAuthority = Code(rawValue: "name_authority")
    }

    /// What kind of remedy it is, for programs.
    public let code: Code

    /// What to do, in words that fit behind the problem: no capital letter, no full stop, and no command of a program.
    public let advice: String

    /// The file that it is about.
    public private(set) var path: String?

    /// The permissions to give to the file, as the argument of `chmod`.
    public private(set) var mode: String?

    /// The user id to give the file to.
    public private(set) var user: UInt32?

    /// How long to wait.
    public private(set) var delay: Duration?

    /// The version to install.
    public private(set) var version: String?

    /// The key source to move to, or one that would do.
    public private(set) var keySource: String?

    /// The home account ids of the first accounts that fit.
    public private(set) var candidates: [String] = []

    /// A remedy of a kind, with the advice that a person reads.
    public init(_ code: Code, _ advice: String) {
        self.code = code
        self.advice = advice.boundedSentence
    }
}

extension Remedy {
    /// Salvage what can be read of the store.
    public static let repair = Remedy(.repair, "repair the store to salvage what is there")

    /// Look for damage in the store.
    public static let check = Remedy(.check, "check the store")

    /// Put a copy in the place of what is damaged.
    public static let restore = Remedy(.restore, "restore a copy")

    /// Restore a copy of the store, or begin with a new one.
    public static let startAnew = Remedy(.startAnew, "restore a copy, or delete the store to start anew")

    /// Name the path of a store.
    public static let choosePath = Remedy(.choosePath, "name the path of a store")

    /// Open the file at `path` instead.
    public static func choosePath(_ path: String) -> Remedy {
        var remedy = Remedy(.choosePath, "name the file itself, \(path)")
        remedy.path = path
        return remedy
    }

    /// Name the path of a store; the file at `path` may be what is left of one, and does not show it.
    public static func setAside(_ path: String) -> Remedy {
        var remedy = Remedy(
            .setAside,
            "name the path of a store, or, if this was it, move the file away and restore a backup"
        )
        remedy.path = path
        return remedy
    }

    /// Take back a move of the store at `place` that you did not ask for.
    package static func undoMove(of place: String) -> Remedy {
        var remedy = Remedy(.undoMove, "take the move back if nobody moved it")
        remedy.path = place
        return remedy
    }

    /// Put the store elsewhere.
    public static func moveStore(_ advice: String) -> Remedy { Remedy(.moveStore, advice) }

    /// Try again at once.
    public static let retry = Remedy(.retry, "try again")

    /// Try again later.
    public static let retryLater = Remedy(.retry, "try again later")

    /// Try again after `delay`; at once if it is nil.
    public static func retry(after delay: Duration?) -> Remedy {
        guard let delay else { return .retry }
        var remedy = Remedy(.retry, "try again in \(delay.secondsRoundedUp) s")
        remedy.delay = delay
        return remedy
    }

    /// Make room on the disk.
    package static let freeSpace = Remedy(.freeSpace, "free some space and try again")

    /// Try again later, or wait longer.
    public static let allowMoreTime = Remedy(.allowMoreTime, "try again later or allow more time")

    /// Install `version` or a newer one.
    public static func update(to version: String) -> Remedy {
        var remedy = Remedy(.update, "install version \(version) or newer")
        remedy.version = version
        return remedy
    }

    /// Give the file at `path` the permissions `mode`, in the words of `chmod`.
    public static func restrictAccess(to path: String, mode: String) -> Remedy {
        var remedy = Remedy(.restrictAccess, "change the mode of \(path) to \(mode)")
        remedy.path = path
        remedy.mode = mode
        return remedy
    }

    /// Run as the owner of the file at `path`, or give it to `user`.
    public static func takeOwnership(of path: String, user: UInt32) -> Remedy {
        var remedy = Remedy(.takeOwnership, "run as that user, or give \(path) to user \(user)")
        remedy.path = path
        remedy.user = user
        return remedy
    }

    /// Look at who may read and write the file.
    public static let checkPermissions = Remedy(.checkPermissions, "check its permissions")

    /// Make the directory at `path`, for its owner alone.
    public static func createDirectory(_ path: String) -> Remedy {
        var remedy = Remedy(.createDirectory, "create \(path), for its owner alone")
        remedy.path = path
        remedy.mode = "700"
        return remedy
    }

    /// Name another key, for example by the key source `source`.
    public static func changeKey(_ advice: String, to source: String? = nil) -> Remedy {
        var remedy = Remedy(.changeKey, advice)
        remedy.keySource = source
        return remedy
    }

    /// Make the key source give its key, or use another one, for example `source`.
    public static func provideKey(_ advice: String, or source: String? = nil) -> Remedy {
        var remedy = Remedy(.provideKey, advice)
        remedy.keySource = source
        return remedy
    }

    /// Restore a copy if you did not choose the store's key source.
    ///
    /// If you did, name none, or move the store's key to `source`.
    public static func moveKey(to source: String) -> Remedy {
        var remedy = Remedy(
            .moveKey,
            "restore a copy if nobody chose that source, as the store may have been replaced, and otherwise name no key "
                + "source, or move the store to \(source)"
        )
        remedy.keySource = source
        return remedy
    }

    /// Name one of several accounts, such as one of `candidates`, which are home account ids.
    public static func nameAccount(_ candidates: [String]) -> Remedy {
        var remedy = Remedy(.nameAccount, "name one by its home account id")
        remedy.candidates = candidates
        return remedy
    }

    /// The user has to sign in again.
    public static let signInAgain = Remedy(.signIn, "sign in again")

    /// The user has to sign in, as the advice says.
    public static func signIn(_ advice: String) -> Remedy { Remedy(.signIn, advice) }

    /// The caller has to pass something else, as the advice says.
    public static func correct(_ advice: String) -> Remedy { Remedy(.correctArgument, advice) }
}
