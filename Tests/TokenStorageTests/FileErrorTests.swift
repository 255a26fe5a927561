import CSQLite
import Testing

@testable import SQLite
@testable import TokenStorage

/// What is said of an error of SQLite.
struct FileErrorTests {
    @Test(arguments: [
        (SQLITE_BUSY, TokenStoreError.Code.busy),
        // Another process makes the index of the log, and may have been stopped.
        (SQLITE_PROTOCOL, .busy), (SQLITE_READONLY | 5 << 8, .busy), (SQLITE_READONLY | 1 << 8, .busy),
        (SQLITE_READONLY, .storage), (SQLITE_FULL, .storage), (SQLITE_IOERR, .storage),
    ])
    func `a file that another process holds is busy, and one that fails is not`(
        result: CInt,
        code: TokenStoreError.Code
    ) {
        let error = TokenStoreError(SQLiteError(result, on: nil), at: StorePath("/nowhere/tokenstore.db"))
        #expect(error.code == code)
    }
}
