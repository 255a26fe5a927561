public import OAuth
public import Sealing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// Where the key-encryption key comes from; nil: the source that the store records, `KeySource.file` for a new one.
    public var keySource: KeySource?

    /// How long to wait for another process.
    public var busyTimeout: Duration = .seconds(30)

    /// What the record of use calls this program.
    public var program: String

    public var now: @Sendable () -> Date = { Date() }

    public var environment: [String: String]

    /// Asks for a passphrase on the terminal, twice if its argument is true; nil where nobody may be asked.
    public var askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)?

    /// Whether the key is needed at once; without it, rows can be counted and deleted, not read.
    public var unlocks = true

    /// Whether an inspection opens its file once and not for each read; this process cannot write to it meanwhile.
    package var keepsInspectionOpen = false

    /// How often a store that is only read looks whether its file has been replaced; a write always does.
    package var replacementLookInterval: Duration = .milliseconds(250)

    /// How long a commit of an issuer's answer waits for a busy store before the answer is put into a file.
    package var answerWait = Duration.seconds(1)

    /// How long the store is waited for once the answer is safe in a file.
    package var pendingWait = Duration.seconds(10)

    package var schema = Schema.current

    /// What deriving a key from a new passphrase costs.
    package var scryptCost = ScryptCost.standard

    public init(keySource: KeySource? = nil) {
        self.keySource = keySource
        environment = ProcessInfo.processInfo.environment
        program = ProcessInfo.processInfo.processName
    }

    /// Unix seconds.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }
}
