import Database
import OAuth
import Synchronization

// How sessions with a store on a server begin.

extension ServerConnections {
    /// What the first connection read of the store, with its keys once they were needed.
    final class Known: Sendable {
        let header: StoreHeader
        let keyRing: KeyRing?
        let markKey: MarkKey?

        init(_ header: StoreHeader, _ keyRing: KeyRing?, _ markKey: MarkKey?) {
            (self.header, self.keyRing, self.markKey) = (header, keyRing, markKey)
        }
    }

    /// What a connection keeps for the next who only reads with it.
    final class ReadingSession {
        let session: StoreConnection

        /// What was known of the store when it was made.
        let known: Known

        init(_ session: StoreConnection, _ known: Known) { (self.session, self.known) = (session, known) }
    }

    /// The session that the connection has kept, unless more is known of the store by now, or less.
    func readingSession(
        _ connection: PostgreSQL.Connection,
        _ companion: inout AnyObject?
    ) throws -> StoreConnection {
        let known = known.withLock { $0 }
        if let kept = companion as? ReadingSession, kept.known === known {
            kept.session.forgetLatest()
            return kept.session
        }
        let session = try session(connection)
        companion = known.map { ReadingSession(session, $0) }
        return session
    }

    func session(_ connection: PostgreSQL.Connection) throws -> StoreConnection {
        let connection = Connection(.server(connection))
        let known = known.withLock { $0 }
        let header = try known?.header ?? header(connection)
        let session = StoreConnection(connection, at: location, header: header, options: options)
        session.mode = isInspection ? .readOnly : .readWrite
        (session.keyRing, session.markKey) = (known?.keyRing, known?.markKey)
        session.hasNews = known == nil
        session.experience = experience
        if session.keyRing == nil, options.unlocks { try unlock(session) }
        return session
    }

    /// Another connection in the place of one that was lost.
    func reconnected() throws -> Connection {
        let connection = try PostgreSQL.Connection.judged(to: address, options: settings)
        try vet(connection)
        return Connection(.server(connection))
    }

    /// Makes sure that the server behind a connection knows its sessions, that no other server has taken its place
    /// since, and that its database keeps every letter that is written.
    ///
    /// Who only reads is let in, and gets out what is there.
    func vet(_ connection: PostgreSQL.Connection) throws {
        guard connection.isVetted else {
            connection.close()
            throw TokenStoreError.invalidArgument(
                "\(location) is behind a pooler that shares sessions, as what they are to begin with is lost there",
                .correct("add pooler=transaction to the address")
            )
        }
        guard timelines.isNewest(connection.timeline) else {
            connection.close()
            throw PostgreSQLError(.connectionLost, "another server has taken the place of this one", state: .lost)
        }
        guard isInspection || connection.keepsTexts else {
            connection.close()
            throw TokenStoreError.unfitEncoding(connection.encoding, at: location, .restoreInUnicode)
        }
    }

    func unlock(_ session: StoreConnection) throws {
        try fetching.withLock { _ in
            session.keyRing = known.withLock { $0?.keyRing }
            _ = try session.keys()
            learn(from: session)
        }
    }

    /// Keeps what the session had to read anew for the next one.
    func learn(from session: StoreConnection) {
        let (header, keyRing, markKey) = (session.header, session.keyRing, session.markKey)
        known.withLock { known in
            guard known?.header.storeID == header.storeID || known == nil else { return }
            known = Known(header, keyRing ?? known?.keyRing, markKey ?? known?.markKey)
            watch.resume(with: header.storeID)
        }
    }

    func header(_ connection: Connection) throws -> StoreHeader {
        try connection.requireTrustedSchema(address.schema, at: location)
        let (header, schema) = (try StoreHeader(onServer: connection, at: address), options.serverSchema)
        guard try schema.pending(header, forWriting: !isInspection).isEmpty else {
            throw TokenStoreError.olderStore(version: header.schemaVersion, current: schema.version, isOnServer: true)
        }
        return header
    }
}

extension PostgreSQL.Connection {
    /// Whether the database keeps every letter, and gives it back as it was.
    ///
    /// One without an encoding keeps the bytes.
    var keepsTexts: Bool { encoding == "UTF8" || encoding == "SQL_ASCII" }
}
