import Crypto
package import OAuth

/// The right to refresh the tokens of one account for one client, or for a family of them, which one process at a time
/// has.
///
/// The kernel takes it back when its holder dies. It is waited for without blocking a thread.
package final class RefreshLock: Sendable {
    private let lock: KernelLock

    /// Whether somebody had it first, who may have refreshed meanwhile.
    package let wasWaitedFor: Bool

    private init(_ lock: KernelLock, wasWaitedFor: Bool) {
        self.lock = lock
        self.wasWaitedFor = wasWaitedFor
    }

    /// Waits for the lock of an account's tokens for a client.
    ///
    /// A holder that is alive is done within `patience`. One that is not done then has been stopped, and the next
    /// one goes on without it, one at a time by a second byte of the lock file.
    package static func acquire(
        _ account: Account.ID,
        client: String,
        of path: StorePath,
        patience: Duration
    ) async throws -> RefreshLock {
        try await acquire(range([account.authority, account.key, client.folded]), of: path, patience)
    }

    /// Waits for the lock of the tokens that an account has for a family of clients.
    package static func acquire(
        _ account: Account.ID,
        family: String,
        of path: StorePath,
        patience: Duration
    ) async throws -> RefreshLock {
        try await acquire(range([account.authority, account.key, "", family]), of: path, patience)
    }

    private static func acquire(
        _ first: KernelLock.Range,
        of path: StorePath,
        _ patience: Duration
    ) async throws -> RefreshLock {
        let lock = try KernelLock(of: path)
        let ranges = [first, .init(offset: first.offset + 1)]
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(1)
        var isFirstTry = true
        while true {
            let isOverdue = ContinuousClock.now - start >= patience
            for range in ranges.prefix(isOverdue ? 2 : 1) where try lock.tryLock(range, of: path) {
                return RefreshLock(lock, wasWaitedFor: !isFirstTry)
            }
            isFirstTry = false
            try await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
            pause = min(pause * 2, .milliseconds(12))
        }
    }

    /// A byte far behind those with a fixed meaning; even, so that each has an odd one of its own behind it.
    private static func range(_ parts: [String]) -> KernelLock.Range {
        let text = parts.joined(separator: "\n")
        let hash = SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return .init(offset: (hash & (1 << 61 - 1)) * 2 + 1024)
    }
}
