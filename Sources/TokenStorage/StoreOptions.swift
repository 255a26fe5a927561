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

    /// The clock.
    ///
    /// Of a store on a server its difference from the server's is made up for, so that all machines have one time.
    public var now: @Sendable () -> Date = { Date() }

    /// Whether that difference is made up for; tests with a clock that stands still are about another time.
    package var followsServerClock = true

    /// The clock of the server, once the store was opened there.
    package internal(set) var serverClock: ServerClock?

    /// The environment variables that paths and keys are looked for in.
    public var environment: [String: String]

    /// Asks for a passphrase on the terminal, twice if its argument is true; nil where no question may be asked.
    public var askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)?

    /// Whether the key is needed at once; without it, rows can be counted and deleted, not read.
    public var unlocks = true

    /// Whether data keys that do not open are left out, for a repair, which saves what the others open.
    var isSalvage = false

    /// Whether tokens that were opened stay in memory, which takes a connection that notices commits; a program that
    /// asks once has no use for it.
    package var keepsTokensInMemory = true

    /// Whether an inspection opens its file once and not for each read; this process cannot write to it meanwhile.
    package var keepsInspectionOpen = false

    /// Whether the copies of the store are removed after a rekey, so that they are no reason to keep the old key.
    package var removesCopies = false

    /// How often a store that is only read looks whether its file has been replaced; a write always does.
    package var replacementLookInterval: Duration = .milliseconds(250)

    /// How long a commit of an issuer's answer waits for a busy store before the answer is put into a file.
    package var answerWait = Duration.seconds(1)

    /// How long the store is waited for once the answer is safe in a file.
    package var pendingWait = Duration.seconds(10)

    /// How long the answer to a refresh waits for a server, which has nothing beside it that could keep the answer.
    package var serverAnswerWait = Duration.seconds(300)

    /// Whether what is only read may come from a standby, where the address allows one: it may be behind, and is not to
    /// decide what is written or handed out.
    package var mayReadStandby = true

    /// How many connections to a server read and write at most, where less than 1 counts as 1; one more may hear of
    /// commits.
    ///
    /// An inspection that reads a standby may have as many to the primary, for what the standby gives up.
    public var poolSize = 8

    /// How long a server's token may be served from memory after another node has signed its account out.
    ///
    /// Usually it is milliseconds: a connection of its own hears of commits. Zero: every lookup asks the server. A file
    /// tells of every commit at once.
    public var staleness = Duration.seconds(2)

    /// Of how many writes to a server one is followed by the deletion of what has served its time.
    package var janitorChance = 100

    /// How many rows one transaction of a rekey takes: few enough that writers wait for a tenth of a second at most,
    /// and so many that the disk is not waited for most of the time.
    package var resealBatch = 2_048

    /// From how many accounts on a second connection helps to read a file; nil: from so many on that it brings more
    /// than it costs, if there is another core for it.
    package var accountsForTwoReaders: Int64?

    /// What the computed ids of accounts on a server are cut down to; tests make it smaller.
    package var accountRowMask = UInt64.max >> 1

    package var schema = Schema.current
    package var serverSchema = Schema.server

    /// What deriving a key from a new passphrase costs.
    package var scryptCost = ScryptCost.standard

    /// Options of a store; nil as the key's source: what the store itself names, else the standard one.
    public init(
        keySource: KeySource? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.keySource = keySource
        self.environment = environment
        program = ProcessInfo.processInfo.processName
    }

    /// Unix seconds.
    var seconds: Int64 { now().unixSeconds }
}

extension StoreOptions: CustomReflectable, CustomStringConvertible {
    /// Without the environment, which may hold the key or a passphrase.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "keySource": keySource as Any, "busyTimeout": busyTimeout, "program": program, "unlocks": unlocks,
            "poolSize": poolSize, "staleness": staleness,
        ]
        return Mirror(self, children: children)
    }

    public var description: String {
        let source = keySource.map { String(describing: $0) } ?? "that of the store"
        return "StoreOptions(key: \(source), program: \(program))"
    }
}
