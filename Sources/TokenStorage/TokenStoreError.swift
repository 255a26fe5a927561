public import OAuth
import SQLite
public import Sealing

/// What can go wrong with a ``TokenStore``.
///
/// Absent, locked, damaged and unavailable are different answers: none of them reads as "signed out". Every text is a
/// sentence that ends in what to do.
public enum TokenStoreError: Error, Sendable {
    /// The file is not a token store, or is damaged.
    case damaged(String)

    /// Another process holds the store longer than the time limit.
    case busy(String)

    /// The key source does not answer, is locked, or holds another key.
    case key(SealingError)

    /// A newer version wrote the store, and its floor shuts this one out.
    case newerStore(version: Int, writtenBy: String, isReadable: Bool)

    /// An older version wrote the store; opening it for writing migrates it.
    case olderStore(version: Int, current: Int)

    /// Others may read, replace or redirect the file.
    case insecure(String)

    /// The file system lacks the locks or the shared memory that a store needs.
    case unsupported(String)

    /// A file cannot be opened or written.
    case file(String)

    /// SQLite failed: disk full, I/O error, read-only file system.
    case storage(String)

    /// The document is not an MSAL cache.
    case notAnMSALCache(String)

    /// An argument makes no sense.
    case invalidArgument(String)

    /// One account was asked for and `total` fit, of which these are the first.
    case ambiguousAccount([Account], total: Int)

    /// The user flow asked for is not the account's: a refresh token of one is not good at the other.
    case userFlowMismatch(requested: String, account: String)

    /// The token response was not stored; it is here whole, so that nothing is lost.
    indirect case notStored(TokenResponse, reason: String)

    /// The issuer answered with the tokens of another account, and nothing was stored; they are here.
    indirect case otherAccount(TokenResponse)
}

extension TokenStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .damaged(let sentence), .busy(let sentence), .insecure(let sentence), .unsupported(let sentence),
            .file(let sentence), .storage(let sentence), .notAnMSALCache(let sentence), .invalidArgument(let sentence):
            sentence
        case .key(let error): error.description
        case .newerStore(let version, let writtenBy, let isReadable):
            """
            tokenstore \(writtenBy) wrote the store in schema version \(version), which this version may not \
            \(isReadable ? "write" : "read"); install version \(writtenBy) or newer
            """
        case .olderStore(let version, let current):
            """
            the store is of schema version \(version); run 'tokenstore purge', which brings it to version \(current) and \
            deletes expired access tokens
            """
        case .ambiguousAccount(_, let total): "\(total) accounts fit; name one by its home account id"
        case .userFlowMismatch(let requested, let account):
            "the account signed in with user flow \(account), not \(requested); sign in with \(requested)"
        case .notStored(_, let reason):
            "the tokens were received but not stored: \(reason)"
        case .otherAccount: "the issuer answered with the tokens of another account; sign in again"
        }
    }
}

extension TokenStoreError {
    /// What a program has to tell apart.
    public enum Kind: Sendable {
        case failure
        case selection
        case busy
        case damaged
        case keyUnavailable
        case newerStore
    }

    public var kind: Kind {
        switch self {
        case .damaged: .damaged
        case .busy, .key(.keyBusy): .busy
        case .key(.damagedValue), .key(.unknownFormat), .key(.unknownDataKey), .key(.damagedDataKey): .damaged
        case .key: .keyUnavailable
        case .newerStore: .newerStore
        case .ambiguousAccount: .selection
        default: .failure
        }
    }
}

extension TokenStoreError {
    /// Runs `body` and turns the errors of the layers below into the store's own.
    static func translating<Result>(at path: StorePath, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw TokenStoreError(error, at: path)
        } catch let error as SealingError {
            throw TokenStoreError.key(error)
        }
    }

    static func busy(at path: StorePath) -> TokenStoreError {
        .busy("another process holds \(path.database); try again later or raise --timeout")
    }

    init(_ error: SQLiteError, at path: StorePath) {
        let file = path.database
        switch error.code.primary {
        case .notADatabase where !StoreFiles(path).showsOwnDatabase:
            self = .damaged("\(file) is not a token store (\(error.message)); name the store with --store")
        case .corrupt, .notADatabase:
            self = .damaged(
                "\(file) is damaged (\(error.message)); run 'tokenstore check --repair' to salvage it"
            )
        case .generic:
            self = .damaged(
                "the tables of \(file) are not as they were made (\(error.message)); "
                    + "run 'tokenstore check --repair' to salvage what is there"
            )
        case .busy, .locked:
            self = .busy(at: path)
        case .diskFull:
            self = .storage("the disk is full, nothing was changed in \(file); free some space and try again")
        case .readOnly, .permission, .authorization:
            self = .storage("\(file) cannot be written (\(error.message)); check its permissions and its file system")
        case .cannotOpen:
            self = .storage("\(file) cannot be opened (\(error.message)); check its permissions and its directory")
        default:
            self = .storage(
                "\(file) failed, nothing was changed (\(error.message), SQLite code \(error.code.rawValue)); "
                    + "check the disk and try again"
            )
        }
    }
}
