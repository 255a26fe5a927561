import SQLite
import Sealing

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
