import Database
public import OAuth
public import Sealing

/// What can go wrong with a ``TokenStore``.
///
/// Absent, locked, damaged and unavailable are different answers: none of them reads as "signed out".
public struct TokenStoreError: CodedError, Equatable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which the code is compared and printed.
        public let rawValue: String

        /// A code of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file is not a token store, or it or one of its values is damaged.
        public static let damaged = Code(rawValue: "damaged")
        /// Another process holds the store longer than the time limit, or the server is too busy to answer in it.
        public static let busy = Code(rawValue: "busy")
        /// The key source does not answer, is locked, or holds another key; ``TokenStoreError/keyError`` says which.
        public static let key = Code(rawValue: "key")
        /// A newer version wrote the store, and says that this one is too old for it.
        public static let newerStore = Code(rawValue: "newer_store")
        /// An older version wrote the store; opening it for writing migrates it.
        public static let olderStore = Code(rawValue: "older_store")
        /// Others may read, replace or redirect the file.
        public static let insecure = Code(rawValue: "insecure")
        /// What a store needs is missing: locks or shared memory of the file system, libpq, UTF-8 or Citus of a server.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A file cannot be opened or written.
        public static let file = Code(rawValue: "file")
        /// The database has no store.
        public static let noStore = Code(rawValue: "no_store")
        /// The store has been moved elsewhere, and nothing is written any more where it was.
        public static let moved = Code(rawValue: "moved")
        /// The database server cannot be reached, does not answer, or may not be written to at the moment.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The database server refuses: a wrong password, an unknown database, a role that may not, a certificate.
        public static let access = Code(rawValue: "access")
        /// The database failed: disk full, I/O error, read-only file system, a standby that may lack a commit,
        /// no more threads.
        public static let storage = Code(rawValue: "storage")
        /// The document is not an MSAL cache.
        public static let notAnMSALCache = Code(rawValue: "not_an_msal_cache")
        /// An argument makes no sense.
        public static let invalidArgument = Code(rawValue: "invalid_argument")
        /// One account was asked for and several fit: see ``TokenStoreError/accounts``.
        public static let ambiguousAccount = Code(rawValue: "ambiguous_account")
        /// The user flow asked for is not the account's: a refresh token of one is not good at the other.
        public static let userFlowMismatch = Code(rawValue: "user_flow_mismatch")
        /// The token response was not stored; ``TokenStoreError/response`` has it whole, so that nothing is lost, unless
        /// no store takes it and a sign-in has had it revoked.
        public static let notStored = Code(rawValue: "not_stored")
        /// The issuer answered with the tokens of another account, and nothing was stored;
        /// ``TokenStoreError/response`` has them, unless a sign-in has had them revoked.
        public static let otherAccount = Code(rawValue: "other_account")

        /// The codes of this version; later ones may have more.
        public static let known = [
            damaged, busy, key, newerStore, olderStore, insecure, unsupported, file, storage, notAnMSALCache,
            invalidArgument, ambiguousAccount, userFlowMismatch, notStored, otherAccount, noStore, unreachable, access,
            moved,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "TokenStorage.TokenStoreError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public internal(set) var problem: String

    /// What may help; nil if nothing is known.
    public internal(set) var remedy: Remedy?

    /// The database of the store: a path, or the address of a server.
    public internal(set) var path: String?

    /// Why the key could not be had, or the value not opened.
    public private(set) var keyError: SealingError?

    /// The first accounts that fit, where one was asked for.
    public private(set) var accounts: [Account] = []

    /// How many accounts fit.
    public private(set) var accountCount = 0

    /// The tokens that were not stored.
    public private(set) var response: TokenResponse?

    /// The schema version of a store that is too new or too old.
    public private(set) var schemaVersion: Int?

    /// The version that wrote a store that is too new.
    public private(set) var writtenBy: String?

    /// The user flow that the account signed in with.
    public private(set) var userFlow: String?

    /// Why tokens were not stored.
    package private(set) var cause: Code?

    /// Whether what was written may be there all the same: the answer to its commit was lost.
    var mayHaveHappened = false

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension TokenStoreError {
    package static func damaged(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.damaged, problem, remedy)
    }

    package static func busy(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.busy, problem, remedy)
    }

    static func insecure(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.insecure, problem, remedy)
    }

    static func unsupported(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.unsupported, problem, remedy)
    }

    static func file(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.file, problem, remedy)
    }

    static func storage(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.storage, problem, remedy)
    }

    static func notAnMSALCache(
        _ problem: String,
        _ remedy: Remedy = Remedy(.checkSource, "check where it comes from")
    ) -> TokenStoreError {
        TokenStoreError(.notAnMSALCache, problem, remedy)
    }

    package static func invalidArgument(_ problem: String, _ remedy: Remedy) -> TokenStoreError {
        TokenStoreError(.invalidArgument, problem, remedy)
    }

    /// One account was asked for and `total` fit, of which these are the first.
    package static func ambiguousAccount(_ accounts: [Account], total: Int) -> TokenStoreError {
        let candidates = accounts.map(\.id.homeAccountID)
        var error = TokenStoreError(.ambiguousAccount, "\(total) accounts fit", .nameAccount(candidates))
        error.accounts = accounts
        error.accountCount = total
        return error
    }

    static func userFlowMismatch(requested: String, account: String) -> TokenStoreError {
        var error = TokenStoreError(
            .userFlowMismatch,
            "the account signed in with user flow \(account), not \(requested)",
            .signIn("sign in with user flow \(requested)")
        )
        error.userFlow = account
        return error
    }

    package static func notStored(_ response: TokenResponse?, because cause: TokenStoreError) -> TokenStoreError {
        var error = notStored(response, reason: cause.problem)
        (error.remedy, error.cause) = (cause.remedy, cause.code)
        return error
    }

    package static func notStored(_ response: TokenResponse?, reason: String) -> TokenStoreError {
        var error = TokenStoreError(.notStored, "the tokens were received but not stored: \(reason)")
        error.response = response
        return error
    }

    static func otherAccount(_ response: TokenResponse?) -> TokenStoreError {
        var error = TokenStoreError(
            .otherAccount,
            "the issuer answered with the tokens of another account",
            .signInAgain
        )
        error.response = response
        return error
    }

    static func newerStore(version: Int, writtenBy: String, isReadable: Bool) -> TokenStoreError {
        let verb = isReadable ? "write" : "read"
        var error = TokenStoreError(
            .newerStore,
            "version \(writtenBy) wrote the store in schema version \(version), which this version may not \(verb)",
            .update(to: writtenBy)
        )
        error.schemaVersion = version
        error.writtenBy = writtenBy
        return error
    }

    static func olderStore(version: Int, current: Int, isOnServer: Bool = false) -> TokenStoreError {
        var error = TokenStoreError(
            .olderStore,
            "the store is of schema version \(version), and this version works with \(current)",
            isOnServer
                ? Remedy(.migrate, "migrate it with the role that owns it")
                : Remedy(.openForWriting, "open it for writing, which brings it to version \(current)")
        )
        error.schemaVersion = version
        return error
    }

    /// What a failure to have a key, or to open a value, means for the store.
    package static func key(_ cause: SealingError) -> TokenStoreError {
        let code: Code =
            switch cause.code {
            case .keyBusy: .busy
            case .damagedValue, .unknownFormat, .unknownDataKey, .damagedDataKey: .damaged
            default: .key
            }
        var error = TokenStoreError(code, cause.problem, cause.remedy)
        error.keyError = cause
        return error
    }
}

extension TokenStoreError {
    /// Runs `body` and turns the errors of the layers below into the store's own.
    static func translating<Result>(at location: StoreLocation, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            guard let path = location.path else { throw error }
            throw TokenStoreError(error, at: path)
        } catch let error as PostgreSQLError {
            throw TokenStoreError(error, at: location)
        } catch let error as SealingError {
            throw TokenStoreError.key(error).at(location)
        } catch let error as UnfitText {
            throw error.refusal.at(location)
        } catch is ReplacedStore {
            let problem = "another store has taken the place of \(location), and nothing was changed"
            throw TokenStoreError.busy(problem, .retry).at(location)
        } catch let error as TokenStoreError {
            throw error.at(location)
        }
    }

    static func translating<Result>(at path: StorePath, _ body: () throws -> Result) throws -> Result {
        try translating(at: StoreLocation(path), body)
    }

    static func busy(at path: StorePath) -> TokenStoreError {
        .busy("another process holds \(path.database)", .allowMoreTime).at(StoreLocation(path))
    }

    init(_ error: SQLiteError, at path: StorePath) {
        self = TokenStoreError(error, in: path).at(StoreLocation(path))
    }

    private init(_ error: SQLiteError, in path: StorePath) {
        let file = path.database
        let message = error.message
        self =
            switch error.code.primary {
            case .corrupt where !StoreFiles(path).showsOwnDatabase,
                .notADatabase where !StoreFiles(path).showsOwnDatabase:
                .damaged("\(file) is not a token store (\(message))", .setAside(file))
            case .corrupt, .notADatabase: .damaged("\(file) is damaged (\(message))", .repair)
            // A program breaks no constraint of the tables that it has made.
            case .generic, .constraint:
                .damaged("the tables of \(file) are not as they were made (\(message))", .repair)
            case .busy, .locked, .indexIsHeld: .busy(at: path)
            case .diskFull:
                .storage("the disk is full or a quota is used up, nothing was changed in \(file)", .freeSpace)
            case .readOnly, .permission, .authorization:
                .storage(
                    "\(file) cannot be written (\(message))",
                    Remedy(.checkPermissions, "check its permissions and its file system")
                )
            case .cannotOpen:
                .storage(
                    "\(file) cannot be opened (\(message))",
                    Remedy(.checkPermissions, "check its permissions and its directory")
                )
            default:
                .storage(
                    "\(file) failed, nothing was changed (\(message), SQLite code \(error.code.rawValue))",
                    Remedy(.retry, "check the disk and try again")
                )
            }
    }
}
