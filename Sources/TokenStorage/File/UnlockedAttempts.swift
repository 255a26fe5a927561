import Database
import OAuth
import Sealing

/// A file that is read without locks was written to meanwhile; what was read of it may be torn.
struct OutdatedRead: Error {}

/// The attempts to read a file that no lock protects, until the time is up.
struct UnlockedAttempts {
    private let path: StorePath
    private let limit: Duration

    /// When the time is up, counted from the first failure on: most reads have no failure, and ask for no time.
    private var end: ContinuousClock.Instant?
    private var pauses = Pauses()

    init(at path: StorePath, within limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Waits before the next attempt.
    ///
    /// There is a second one in any case: the first may have met what was out of date
    /// before it began, and the next takes locks where another program has the file open.
    ///
    /// - Throws: ``TokenStoreError/Code/busy`` once the time is up.
    mutating func next() throws(TokenStoreError) {
        let now = ContinuousClock.now
        let end = self.end ?? now + limit
        guard self.end == nil || now < end else { throw Self.busy(path) }
        self.end = end
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
