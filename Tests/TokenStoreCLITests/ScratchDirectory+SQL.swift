import SQLite
import TokenStorage

/// What time, a failing disk, a newer version or another process does to a store.
extension ScratchDirectory {
    /// Turns some bits of a sealed access token.
    func damageValue() throws {
        try execute("UPDATE access_token SET secret = CAST(zeroblob(length(secret)) AS BLOB) WHERE id = 1")
    }

    /// Overwrites the refresh token of the account with a username.
    func damageSession(of username: String) throws {
        try execute(
            """
            UPDATE refresh_token SET secret = zeroblob(length(secret))
            WHERE account_id = (SELECT id FROM account WHERE username = '\(username)')
            """
        )
    }

    /// Makes a store in which nothing opens.
    func loseDataKeys() throws { try execute("UPDATE data_key SET wrapped = zeroblob(75), is_current = 0") }

    /// Makes the store one that only a newer version may read.
    func shutOut() throws {
        try execute(
            "UPDATE store SET schema_version = 99, reader_floor = 99, writer_floor = 99; PRAGMA user_version = 99"
        )
    }

    /// Makes every account one that was last used ten days ago.
    func age() throws {
        try TokenStore.open(at: StorePath(store)).withWriter {
            try $0.update("account", set: "last_used_at = last_used_at - 864000")
        }
    }

    /// Keeps everybody else from writing until the connection goes.
    func holdForWriting() throws -> Connection {
        let connection = try Connection(path: store, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("BEGIN IMMEDIATE")
        return connection
    }

    func execute(_ statement: String) throws {
        try Connection(path: store, mode: .readWrite, busyTimeout: .seconds(5)).execute(statement)
    }
}
