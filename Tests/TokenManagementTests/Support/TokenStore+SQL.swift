import Database
import TokenStorage

extension TokenStore {
    /// Changes the database behind the store's back.
    func sql(_ statement: String) throws { try withWriter { try $0.connection.execute(statement) } }
}
