import SQLite
import TokenStorage

extension TokenStore {
    /// Changes the file behind the store's back.
    func sql(_ statement: String) throws {
        try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5)).execute(statement)
    }
}
