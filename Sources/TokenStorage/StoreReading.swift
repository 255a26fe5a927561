import Database

/// What can be read of a store: of a ``TokenStore``, or of a ``StoreInspection``, which does nothing else.
public protocol StoreReading: Sendable {
    /// What it reads through; only this package can use it.
    var connections: StoreConnections { get }

    /// What the store has for `query`: a usable token, refresh tokens to get one with, or neither.
    ///
    /// Nothing is written. An access token is returned only while it is valid for longer than the query's buffer.
    ///
    /// - Throws: ``TokenStoreError/Code/invalidArgument`` if the scope is empty,
    ///   ``TokenStoreError/Code/userFlowMismatch`` if the account signed in with another user flow.
    func cachedToken(for query: TokenQuery) throws -> CachedToken
}

extension StoreReading {
    /// Where the store is.
    public var location: StoreLocation { connections.location }

    /// The file and what is beside it, for what only a file has.
    package var path: StorePath { location.file }

    package var options: StoreOptions { connections.options }

    /// Runs `body` with a connection for reading; it may read again inside.
    ///
    /// Always inlined: generic code would ask the runtime how to copy each result, which costs a lookup a thirtieth.
    @inline(__always)
    package func read<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try connections.read(body)
    }
}

extension StoreReading {
    /// Requires that this program may write the store, as a trial of a change has to: it was not moved, and no newer
    /// version forbids it.
    package func requireWritable() throws {
        try read { session in
            try session.requireWritableSchema()
            if let place = try session.newPlace() { throw TokenStoreError.moved(from: session.location, to: place) }
        }
    }
}

extension StoreConnection {
    /// Requires that no newer version forbids this program to write the store, and that its database keeps every
    /// letter.
    func requireWritableSchema() throws {
        if case .server(let server) = connection.engine, !server.keepsTexts {
            throw TokenStoreError.unfitEncoding(server.encoding, at: location, .restoreInUnicode)
        }
        _ = try (connection.isServer ? options.serverSchema : options.schema).pending(header, forWriting: true)
    }
}

/// A store that is read and never written, not even its log or a lock: `TokenStore.inspect(at:)`.
///
/// ```swift
/// let names = try TokenStore.inspect(at: .standard)?.accounts().map(\.username)
/// ```
public struct StoreInspection: StoreReading {
    /// The connections that it reads by; for the library itself.
    public let connections: StoreConnections

    /// What the store has for `query`, opened anew at each call.
    public func cachedToken(for query: TokenQuery) throws -> CachedToken {
        try query.requireScope()
        return try storedToken(for: query)
    }
}
