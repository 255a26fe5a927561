import Database
import OAuth
public import Sealing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreReading {
    /// What the store is, and who could read it; works without the key too.
    public func status() throws -> StoreStatus {
        try read { session in try session.connection.read { try session.status() } }
    }

    /// The files that belong to the store, the key file included; nil where it is on a server.
    package func files() throws -> StoreFiles? {
        try location.path.map { path in try read { StoreFiles(path, source: try $0.keySource()) } }
    }
}

extension StoreConnection {
    fileprivate func status() throws -> StoreStatus {
        let totals = try totals()
        if totals.accounts == 0 { try requireSoundness() }
        let entries = try unrecognizedEntryCounts()
        let keys = try connection.keyEncryptionKeyIDs()
        let source = try header.namesKeySource ? recordedKeySource() : keySource()
        let hasLostKeys = keys.isEmpty && (totals.accounts > 0 || connection.isServer)
        let place = try newPlace()
        let problem: SealingError? = hasLostKeys ? Self.lostKeys : keyProblem()
        return StoreStatus(
            location: location,
            size: try size(),
            schemaVersion: header.userVersion,
            readerFloor: header.readerFloor,
            writerFloor: header.writerFloor,
            writtenBy: header.writtenBy,
            createdAt: Date(unixSeconds: header.createdAt),
            accounts: totals.accounts,
            accessTokens: totals.accessTokens,
            expiredAccessTokens: try expiredAccessTokenCount(),
            refreshTokens: totals.refreshTokens,
            idTokens: totals.idTokens,
            quarantined: entries?.quarantined ?? 0,
            unknownEntries: entries?.unknown ?? 0,
            pendingAnswers: try location.path?.pendingAnswers() ?? [],
            keySource: header.keySource,
            keyID: keys.first(where: \.isCurrent)?.id ?? "",
            keyProblem: problem,
            lostKeys: hasLostKeys ? TokenStoreError.lostKeys(at: location) : nil,
            isRekeyUnfinished: keys.count > 1,
            isFillingFromCopy: try holdsPartOfCopy(),
            movedTo: place?.name,
            isMoveProved: place?.address != nil,
            copies: location.path.map { StoreFiles($0, source: source).copies } ?? [],
            server: try serverStatus(),
            protection: protection(recorded: source, opensKeys: problem == nil, Set(keys.map(\.id)))
                .map { StoreStatus.Protection($0) }
        )
    }

    /// Who could read the tokens by the recorded source, or by the given one if it has the key as well.
    ///
    /// A given source that does not open the store says nothing about the key that does.
    private func protection(recorded: KeySource, opensKeys: Bool, _ keys: Set<String>) -> [ReaderVerdict] {
        let database = location.path?.database
        let verdicts = recorded.protection(database: database, keys: keys)
        guard opensKeys, let given = options.keySource, given.recorded != recorded else { return verdicts }
        let others = given.protection(database: database, keys: keys)
        // Where root reads nothing either, the key is no longer where the store says.
        guard verdicts.contains(where: { $0.reader == .root && $0.canRead }) else { return others }
        return zip(verdicts, others).map { $0.canRead || !$1.canRead ? $0 : $1 }
    }

    /// Bytes of the file and its log, or of the tables on a server with their indexes.
    private func size() throws -> Int64 {
        if let path = location.path { return [path.database, path.log].reduce(0) { $0 + (FileStatus($1)?.size ?? 0) } }
        if try isDistributed() {
            return try connection.integer(
                """
                SELECT sum(citus_total_relation_size(p.logicalrelid)) FROM pg_dist_partition p
                    JOIN pg_class c ON c.oid = p.logicalrelid WHERE c.relnamespace = current_schema()::regnamespace
                """
            ) ?? 0
        }
        return try connection.integer(
            """
            SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
            """
        ) ?? 0
    }

    private static let lostKeys = SealingError.keyUnavailable(
        "the data keys are lost, and nothing in the store opens without them",
        nil
    )

    private func keyProblem() -> SealingError? {
        do {
            _ = try keys()
            return nil
        } catch let error as SealingError {
            return error
        } catch {
            return .keyUnavailable("\(error)", nil)
        }
    }
}

/// What a store is, and who could read it.
public struct StoreStatus: Sendable {
    /// Where the store is.
    public let location: StoreLocation

    /// Bytes of the database and its log, or of the tables on a server.
    public let size: Int64

    /// The version of its schema.
    public let schemaVersion: Int

    /// The oldest schema version whose programs may read it.
    public let readerFloor: Int

    /// The oldest schema version whose programs may write it.
    public let writerFloor: Int

    /// The program that changed its schema last.
    public let writtenBy: String

    /// When the store was made.
    public let createdAt: Date

    /// How many accounts it has.
    public let accounts: Int

    /// How many access tokens it has.
    public let accessTokens: Int

    /// How many of its access tokens have ended, or were stored in the future.
    public let expiredAccessTokens: Int

    /// How many refresh tokens it has.
    public let refreshTokens: Int

    /// How many ID tokens it has.
    public let idTokens: Int

    /// Entries of imports that are kept aside because they make no sense.
    public let quarantined: Int

    /// Entries of imports that are kept because they are not known here.
    public let unknownEntries: Int

    /// Files beside the store with answers of issuers that it could not take yet; opening it for writing does.
    public let pendingAnswers: [String]

    /// Where its key comes from.
    public let keySource: String

    /// The id of the key-encryption key that the data keys are sealed under.
    public let keyID: String

    /// Why the key cannot be had; nil if it can.
    public let keyProblem: SealingError?

    /// The error of whoever opens a store that has lost its data keys, which no key mends; nil if it has them.
    package let lostKeys: TokenStoreError?

    /// Whether a change of keys was interrupted; the next one goes on with it.
    public let isRekeyUnfinished: Bool

    /// Whether a copy to here is under way or was cut off, so that accounts may be missing.
    public let isFillingFromCopy: Bool

    /// Where the store was moved to, so that nothing is written here any more, or `another place` where nothing proves
    /// which; nil if it was not.
    public let movedTo: String?

    /// Whether an entry that was written with the store's key says where to.
    package let isMoveProved: Bool

    /// Copies of the store beside it, which the keys of their time open.
    public let copies: [StoreCopy]

    /// What the server is; nil of a file.
    public let server: ServerStatus?

    /// Who could read the tokens, the one whom the store keeps out first.
    public let protection: [Protection]

    /// Whether one kind of reader could open what the store holds.
    public struct Protection: Sendable {
        /// Who might read the store.
        public let reader: Reader

        /// Whether that reader can read the tokens.
        public let canRead: Bool

        /// Why, in plain words: a clause without a full stop.
        public let reason: String

        /// Whether the reason says more than anyone expects of such a reader.
        package let isRemarkable: Bool

        init(_ verdict: ReaderVerdict) {
            reader = Reader(rawValue: verdict.reader.rawValue)
            (canRead, reason, isRemarkable) = (verdict.canRead, verdict.reason, verdict.isRemarkable)
        }

        /// A kind of reader; a new version may know more.
        public struct Reader: RawRepresentable, Hashable, Sendable {
            /// The word that `status --json` has for it.
            public let rawValue: String

            /// A kind with a word of its own.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// Another user of this machine.
            public static let otherUser = Reader(rawValue: "otherUser")

            /// Someone with a copy of the database alone.
            public static let databaseCopy = Reader(rawValue: "databaseCopy")

            /// A program of the same user.
            public static let sameUser = Reader(rawValue: "sameUser")

            /// The administrator of the machine.
            public static let root = Reader(rawValue: "root")
        }
    }
}
