import CSQLite
import TestTraits
import Testing

@testable import SQLite
@testable import TokenStorage

/// What is said of an error of SQLite.
@Suite(.aboutFiles("the errors are SQLite's"))
struct FileErrorTests {
    @Test(arguments: [
        (SQLITE_BUSY, TokenStoreError.Code.busy),
        // Another process makes the index of the log, and may have been stopped.
        (SQLITE_PROTOCOL, .busy), (SQLITE_READONLY, .storage), (SQLITE_FULL, .storage), (SQLITE_IOERR, .storage),
    ])
    func `a file that another process holds is busy, and one that fails is not`(
        result: CInt,
        code: TokenStoreError.Code
    ) {
        let error = TokenStoreError(SQLiteError(result, on: nil), at: StorePath("/nowhere/tokenstore.db"))
        #expect(error.code == code)
    }
}
