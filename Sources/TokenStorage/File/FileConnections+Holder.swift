import Database
import OAuth
import Synchronization

extension FileConnections {
    private static let longestWrite = Duration.milliseconds(300)

    /// Makes sure that it is not the store which keeps a caller waiting whose time is up: a write takes milliseconds
    /// unless another process holds the file.
    ///
    /// The caller may also have waited for another process that waits for the file itself, of which nothing is known
    /// here: `trying` to write for a moment shows it.
    ///
    /// - Throws: ``TokenStoreError/Code/busy``.
    func requireNoHolder(trying: Bool) throws {
        let isWaiting = writes.withLock { $0.count > 0 && ContinuousClock.now - $0.since > Self.longestWrite }
        guard try isWaiting || (trying && !isInspection && isHeld()) else { return }
        throw TokenStoreError.busy(at: path)
    }

    /// Whether another process held the file when that was last tried; one try serves all whose time is up together.
    private func isHeld() throws -> Bool {
        try trial.withLock { trial in
            if let trial, ContinuousClock.now - trial.at < .seconds(1) { return trial.isHeld }
            var isHeld = false
            do {
                try read { session in
                    try session.connection.withBusyTimeout(Self.longestWrite) { try session.connection.write {} }
                }
            } catch let error as TokenStoreError {
                // A write that fails for another reason has not kept the caller waiting.
                isHeld = error.code == .busy
            }
            trial = (.now, isHeld)
            return isHeld
        }
    }
}
