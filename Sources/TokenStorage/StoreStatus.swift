public import Sealing

/// What a store is, and who could read it.
public struct StoreStatus: Sendable {
    public let path: StorePath

    /// Bytes of the database and its log.
    public let size: Int64
    public let schemaVersion: Int
    public let readerFloor: Int
    public let writerFloor: Int
    public let writtenBy: String

    /// Unix seconds.
    public let createdAt: Int64
    public let accounts: Int
    public let accessTokens: Int
    public let refreshTokens: Int
    public let idTokens: Int

    /// Entries of imports that are kept aside because they make no sense.
    public let quarantined: Int

    /// Entries of imports that are kept because they are not known here.
    public let foreignEntries: Int

    /// Files beside the store with answers of issuers that it could not take yet; opening it for writing does.
    public let pendingAnswers: [String]
    public let keySource: String

    /// The id of the key-encryption key that the data keys are sealed under.
    public let keyID: String

    /// Why the key cannot be had; nil if it can.
    public let keyProblem: SealingError?
    public let isRekeyUnfinished: Bool

    /// Copies of the store beside it, which the keys of their time open.
    public let copies: [StoreCopy]

    /// Who could read the tokens, in plain words.
    public let protection: [Protection]

    /// What the key source means against someone.
    public struct Protection: Sendable {
        public let reader: String
        public let verdict: String
    }
}
