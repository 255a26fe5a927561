import Database
import OAuth

/// What is refused before the first statement, at which SQLite plays a journal back and takes in a log.
extension StoreFile {
    /// Refuses a database of another program: its log and its journal are for that program to take in.
    ///
    /// A store whose first page is damaged is still one, as far as another page shows that.
    func refuseOther(_ connection: Connection) throws(TokenStoreError) {
        guard FileSigns.namesOther(connection), !showsStore else { return }
        throw StoreHeader.otherDatabase(path)
    }

    /// The error for a rollback journal beside a database that ``refuseOther(_:)`` has let through: no store has one.
    ///
    /// Beside a database with a write-ahead log it is another program's. Where the database was taken out of that mode,
    /// a repair plays the journal back, into a copy.
    func journalRefusal(_ connection: Connection) -> TokenStoreError {
        guard connection.bytes(at: 18, count: 2) != [2, 2] else { return StoreFiles.inTheWay(path.journal) }
        guard showsStore else {
            return .damaged("\(path.database) is not a token store", .setAside(path.database))
        }
        return .withoutLogMode(path)
    }

    private var showsStore: Bool { FileSigns(of: path.database, keyID: nil)?.isDatabase ?? false }
}

extension TokenStoreError {
    static func withoutLogMode(_ path: StorePath) -> TokenStoreError {
        damaged("\(path.database) is in no write-ahead-log mode and so not as this program left it", .repair)
    }
}
