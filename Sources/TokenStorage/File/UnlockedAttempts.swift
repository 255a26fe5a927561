import Database
import OAuth
import Sealing

/// A file that is read without locks was written to meanwhile; what was read of it may be torn.
struct OutdatedRead: Error {}

/// The attempts to read a file that no lock protects, until the time is up.
struct UnlockedAttempts {
    private let path: StorePath
    private let end: ContinuousClock.Instant
    private var isFirst = true
    private var pauses = Pauses()

    init(at path: StorePath, within limit: Duration) {
        self.path = path
        end = ContinuousClock.now + limit
    }

    /// Waits before the next attempt.
    ///
    /// There is a second one in any case: the first may have met what was out of date
    /// before it began, and the next takes locks where another program has the file open.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` once the time is up.
    mutating func next() throws(TokenStoreError) {
        guard isFirst || ContinuousClock.now < end else { throw Self.busy(path) }
        isFirst = false
        pauses.next(until: end)
    }

    static func busy(_ path: StorePath) -> TokenStoreError {
        .busy("\(path.database) was written to while it was read", .retry).at(StoreLocation(path))
    }

    /// Whether an error may come of torn pages, and not of the caller or of the key.
    static func mayBeTorn(_ error: any Error) -> Bool {
        switch error {
        case is OutdatedRead, is SQLiteError: true
        case let error as SealingError: TokenStoreError.key(error).code != .key
        case let error as TokenStoreError: error.code != .key && error.code != .busy
        default: false
        }
    }
}
