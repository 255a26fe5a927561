import OAuth
import SQLite
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

    /// The files that belong to the store, the key file included.
    package func files() throws -> StoreFiles { try read { StoreFiles(path, source: try $0.keySource()) } }
}

extension StoreConnection {
    fileprivate func status() throws -> StoreStatus {
        let totals = try totals()
        if totals.accounts == 0 { try requireSoundness() }
        let entries = try unrecognizedEntryCounts()
        let keys = try connection.keyEncryptionKeyIDs()
        let source = try KeySource(parsing: header.keySource)
        return StoreStatus(
            path: path,
            size: [path.database, path.log].reduce(0) { $0 + (FileStatus($1)?.size ?? 0) },
            schemaVersion: header.userVersion,
            readerFloor: header.readerFloor,
            writerFloor: header.writerFloor,
            writtenBy: header.writtenBy,
            createdAt: Date(unixSeconds: header.createdAt),
            accounts: totals.accounts,
            accessTokens: totals.accessTokens,
            refreshTokens: totals.refreshTokens,
            idTokens: totals.idTokens,
            quarantined: entries?.quarantined ?? 0,
            unknownEntries: entries?.unknown ?? 0,
            pendingAnswers: try path.pendingAnswers(),
            keySource: header.keySource,
            keyID: keys.first(where: \.isCurrent)?.id ?? "",
            keyProblem: keyProblem(),
            isRekeyUnfinished: keys.count > 1,
            copies: StoreFiles(path, source: source).copies,
            protection: source.protection(database: path.database).map {
                StoreStatus.Protection(reader: $0.reader, verdict: $0.verdict)
            }
        )
    }

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
    public let path: StorePath

    /// Bytes of the database and its log.
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

    /// Whether a change of keys was interrupted; the next one goes on with it.
    public let isRekeyUnfinished: Bool

    /// Copies of the store beside it, which the keys of their time open.
    public let copies: [StoreCopy]

    /// Who could read the tokens, in plain words.
    public let protection: [Protection]

    /// How well the key source protects against one kind of attacker.
    public struct Protection: Sendable {
        /// Who might read the store: another user, a backup, a thief.
        public let reader: String

        /// Whether that reader can open what it holds, and why.
        public let verdict: String
    }
}
