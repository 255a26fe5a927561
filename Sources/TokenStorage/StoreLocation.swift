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
    /// A text that looks like the address of a server, but is none, is refused: another scheme, or a keyword string of
    /// libpq such as `host=db.example`. A file that has such a name is given as `./host=db.example`.
    ///
    /// What an address leaves open comes from its service (`service=`) and from libpq's environment variables. A schema
    /// is a store (`?schema=tokenstore`). Behind a pooler of transactions, such as pgbouncer, `pooler=transaction` is
    /// needed. Off this machine the server has to prove itself (`sslmode=verify-full`).
    ///
    /// A password in a text that `isArgument` of a program is refused: every user of the machine can read those.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument``.
    public init(_ text: String, isArgument: Bool = false) throws(TokenStoreError) {
        guard ServerAddress.isMeant(by: text) else {
            self.init(StorePath(text))
            return
        }
        self.init(
            try Self.address(
                text,
                isArgument ? .argument : .environment,
                otherwise: "write postgresql://HOST/DATABASE, or ./ before the name of a file"
            )
        )
    }

    /// Whether `text` is meant as the address of a server, right or wrong, and not as the path of a file.
    package static func isMeantAsAddress(_ text: String) -> Bool { ServerAddress.isMeant(by: text) }

    /// What `TOKENSTORE_PATH` names, a path or the address of a server, then the address in `TOKENSTORE_DATABASE_URL`,
    /// and the file of this user without both.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if an address cannot be used.
    public static func standard(environment: [String: String]) throws(TokenStoreError) -> StoreLocation {
        if let text = environment["TOKENSTORE_PATH"], !text.isEmpty { return try StoreLocation(text) }
        guard let text = environment["TOKENSTORE_DATABASE_URL"], !text.isEmpty else {
            return StoreLocation(.standard(environment: environment))
        }
        return StoreLocation(
            try address(
                text,
                .environment,
                otherwise: "set TOKENSTORE_DATABASE_URL to postgresql://HOST/DATABASE, or TOKENSTORE_PATH to a path"
            )
        )
    }

    /// Reads an address; `advice` is for a text that is none at all.
    private static func address(
        _ text: String,
        _ origin: ServerAddress.Origin,
        otherwise advice: String
    ) throws(TokenStoreError) -> ServerAddress {
        do {
            return try ServerAddress(text, origin: origin)
        } catch {
            let hasScheme = ServerAddress.hasScheme(text)
            let remedy = hasScheme ? "correct the address, as in postgresql://HOST/DATABASE" : advice
            throw .invalidArgument(error.message, .correct(remedy))
        }
    }

    /// The database file; nil where the store is on a server.
    public var path: StorePath? {
        if case .file(let path) = kind { path } else { nil }
    }

    /// Whether what is read may come from a standby of a server.
    package var mayBeStandby: Bool {
        if case .server(let address) = kind { address.mayBeStandby } else { false }
    }

    /// The same for what only a file has; its caller has asked before where the store is.
    package var file: StorePath {
        guard let path else { preconditionFailure("a server is asked for its files") }
        return path
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

    /// The path of the file, or the server's address with all that leads to the store but a password.
    ///
    /// It is for a program, which reaches the same store with it; a message has ``description``.
    package var fullDescription: String {
        switch kind {
        case .file(let path): path.database
        case .server(let address): address.fullDescription
        }
    }

    /// Whether `text`, a description of a place, names this store, whoever signs in there.
    package func isDescribed(by text: String) -> Bool {
        // A description does not hold all of the address, and the environment would fill the gaps.
        if text == description { return true }
        do { return try StoreLocation(text).description == description } catch { return false }
    }
}
