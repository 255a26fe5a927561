package import Database
import OAuth

/// Where a store is: a file of this machine, or a PostgreSQL server that many machines share.
///
/// ```swift
/// let here = StoreLocation(StorePath("/var/lib/app/tokenstore.db"))
/// let there = try StoreLocation("postgresql://db1.example,db2.example/sessions")
/// ```
public struct StoreLocation: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file(StorePath)
        case server(ServerAddress)
    }

    package let kind: Kind

    /// A database file.
    public init(_ path: StorePath) { kind = .file(path) }

    package init(_ address: ServerAddress) { kind = .server(address) }

    /// Reads `postgresql://…` as a server's address, and any other text as the path of a file.
    ///
    /// What an address leaves open comes from its service (`service=`) and from libpq's environment variables. A schema
    /// is a store (`?schema=tokenstore`). Behind a pooler of transactions, such as pgbouncer, `pooler=transaction` is
    /// needed. Off this machine the server has to prove itself (`sslmode=verify-full`).
    ///
    /// A password in a text that `isArgument` of a program is refused: every user of the machine can read those.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument``.
    public init(_ text: String, isArgument: Bool = false) throws(TokenStoreError) {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            self.init(StorePath(text))
            return
        }
        do {
            self.init(try ServerAddress(text, origin: isArgument ? .argument : .environment))
        } catch {
            throw .invalidArgument(error.message, .correct("correct the address"))
        }
    }

    /// What `TOKENSTORE_PATH` names, a path or the address of a server, then what `TOKENSTORE_DATABASE_URL` does, and
    /// the file of this user without both.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if an address cannot be used.
    public static func standard(environment: [String: String]) throws(TokenStoreError) -> StoreLocation {
        let named = ["TOKENSTORE_PATH", "TOKENSTORE_DATABASE_URL"].lazy.compactMap { environment[$0] }
        guard let text = named.first(where: { !$0.isEmpty }) else {
            return StoreLocation(.standard(environment: environment))
        }
        return try StoreLocation(text)
    }

    /// The database file; nil where the store is on a server.
    public var path: StorePath? {
        if case .file(let path) = kind { path } else { nil }
    }

    package var address: ServerAddress? {
        if case .server(let address) = kind { address } else { nil }
    }
}

extension StoreLocation: CustomStringConvertible {
    /// The path of the file, or the server's hosts, database and schema: nothing that lets anyone in.
    public var description: String {
        switch kind {
        case .file(let path): path.database
        case .server(let address): address.description
        }
    }
}
