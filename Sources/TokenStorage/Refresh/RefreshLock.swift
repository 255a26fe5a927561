import Crypto
package import OAuth

/// The right to refresh the tokens of one account for one client, or for a family of them, which one process at a time
/// has: of this machine where the store is a file, of all where it is on a server.
///
/// It is waited for without blocking a thread. When its holder dies others get it: at once from the kernel, from a
/// server when the holder has not renewed it for some seconds in which the server was there.
package final class RefreshLock: Sendable {
    private enum Hold: Sendable {
        case kernel(KernelLock)
        case lease(RefreshLease)
        /// There is no account whose tokens could be refreshed.
        case nothing
    }

    /// What is locked.
    package enum Subject: Hashable, Sendable {
        case client(String)
        case family(String)
    }

    private let hold: Hold

    /// Whether another process or task had it first, which may have refreshed meanwhile.
    package let wasWaitedFor: Bool

    private init(_ hold: Hold, wasWaitedFor: Bool) {
        self.hold = hold
        self.wasWaitedFor = wasWaitedFor
    }

    /// Makes sure that the right is still there: a process that was stopped for a while may have lost it.
    ///
    /// - Throws: ``TokenStoreError/Code/busy``.
    package func requireHeld() async throws {
        if case .lease(let lease) = hold { try await lease.requireHeld() }
    }

    /// Keeps the right until the answer of the issuer is stored, or given up.
    package func lastForAnswer() {
        if case .lease(let lease) = hold { lease.lastForAnswer() }
    }

    /// Gives the right back, so that other processes wait for it no longer than needed.
    package func release() async {
        switch hold {
        case .kernel(let lock): lock.unlock()
        case .lease(let lease): await lease.release()
        case .nothing: break
        }
    }

    /// Waits for a lock of the kernel.
    ///
    /// A holder that is alive is done within `patience`. One that is not done then has been stopped, and the next one
    /// goes on without it, one at a time by a second byte of the lock file; when two were stopped the waiting ends, and
    /// so it does behind a queue that is too long. Only the time counts in which this process ran: while a machine
    /// sleeps, its holder has not been able to finish either.
    fileprivate static func acquire(
        _ first: KernelLock.Range,
        of path: StorePath,
        _ patience: Duration
    ) async throws -> RefreshLock {
        let lock = try KernelLock(of: path)
        let second = KernelLock.Range(offset: first.offset + 1)
        var waited = Duration.zero
        var pause = Duration.milliseconds(1)
        var isFirstTry = true
        // One holder after the other may have it meanwhile: each has its own time.
        var (holder, start): (Int64?, Duration) = (nil, .zero)
        while true {
            if try lock.tryTurn(first, of: path) { return RefreshLock(.kernel(lock), wasWaitedFor: !isFirstTry) }
            let present = lock.holder(of: first)
            if present != holder { (holder, start) = (present, waited) }
            if waited - start >= patience, try lock.tryTurn(second, of: path) {
                return RefreshLock(.kernel(lock), wasWaitedFor: true)
            }
            guard waited < patience * 3 else { throw heldTooLong }
            isFirstTry = false
            let begin = ContinuousClock.now
            try await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
            waited += min(ContinuousClock.now - begin, .milliseconds(100))
            pause = min(pause * 2, .milliseconds(12))
        }
    }

    /// Waits for a lease of the server, unless its holder leaves the answer.
    ///
    /// A holder that is alive is done within `patience`, and renews its lease no longer than that, unless it has an
    /// answer that the server does not take.
    fileprivate static func lease<Answer>(
        _ account: Account.ID,
        _ subject: Subject,
        from store: TokenStore,
        _ patience: Duration,
        isUnderWay: Bool,
        unless answer: () async throws -> Answer?
    ) async throws -> RefreshWait<Answer> {
        let end = ContinuousClock.now + patience * 2 + RefreshLease.length + LapsedLease.wait
        // An issuer hardly answers sooner, and each look takes the server's time from the one who refreshes.
        var interval = Duration.milliseconds(5)
        func pause() async throws {
            try await Task.sleep(for: interval * Double.random(in: 0.5...1.5))
            interval = min(interval * 2, .milliseconds(40))
        }
        if isUnderWay { try await pause() }
        var isFirstTry = !isUnderWay
        var lapsed = LapsedLease()
        while true {
            // Many wait for one lease: a look costs the server little.
            let look: RefreshLease.Look =
                isFirstTry ? .free : try await RefreshLease.look(of: account, subject, in: store)
            lapsed.note(look)
            if look == .free || lapsed.abandoned != nil {
                if !isFirstTry, let answer = try await answer() { return .answered(answer) }
                let outcome = try await RefreshLease.take(
                    account,
                    subject,
                    from: store,
                    patience: patience,
                    abandoned: lapsed.abandoned
                )
                switch outcome {
                case .taken(let lease): return .right(RefreshLock(.lease(lease), wasWaitedFor: !isFirstTry))
                case .noAccount: return .right(RefreshLock(.nothing, wasWaitedFor: !isFirstTry))
                case .lapsed(let moment): lapsed.note(.lapsed(moment))
                case .held: break
                }
            }
            guard ContinuousClock.now < end else { throw heldTooLong }
            isFirstTry = false
            try await pause()
        }
    }

    private static let heldTooLong = TokenStoreError.busy(
        "another process refreshes the tokens of the account",
        .retryLater
    )

    /// A byte far after those with a fixed meaning; even, so that the odd one after it belongs to it.
    fileprivate static func range(_ account: Account.ID, _ subject: Subject) -> KernelLock.Range {
        let parts =
            switch subject {
            case .client(let client): [account.issuer, account.key, client.folded]
            case .family(let family): [account.issuer, account.key, "", family]
            }
        let text = parts.joined(separator: "\n")
        let hash = SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return .init(offset: (hash & (1 << 61 - 1)) * 2 + 1024)
    }
}

extension [RefreshLock] {
    /// Gives all back, at once: a server may keep each waiting.
    package func release() async {
        await withDiscardingTaskGroup { group in
            for lock in self { group.addTask { await lock.release() } }
        }
    }
}

/// What came of waiting for the right to refresh.
package enum RefreshWait<Answer: Sendable>: Sendable {
    case right(RefreshLock)
    /// What another's refresh has left, so that the right is not needed.
    case answered(Answer)
}

extension TokenStore {
    /// Waits for the right to spend the refresh tokens that an account has for a client, or for a family of clients.
    ///
    /// - Throws: ``TokenStoreError``, `CancellationError`.
    package func refreshLock(
        of account: Account.ID,
        for subject: RefreshLock.Subject,
        patience: Duration
    ) async throws -> RefreshLock {
        switch try await refreshLock(of: account, for: subject, patience: patience, unless: { Never?.none }) {
        case .right(let lock): return lock
        }
    }

    /// The same, unless `answer` finds what another's refresh has left; it is asked when the other is done.
    ///
    /// The many that wait for one refresh on a server so need not have the right one after the other, which costs each
    /// two commits. On a file to have it costs nothing, and nothing is asked. Where another was just seen to have it, the
    /// wait begins without a try.
    package func refreshLock<Answer>(
        of account: Account.ID,
        for subject: RefreshLock.Subject,
        patience: Duration,
        isUnderWay: Bool = false,
        unless answer: () async throws -> Answer?
    ) async throws -> RefreshWait<Answer> {
        guard let path = location.path else {
            return try await RefreshLock.lease(
                account,
                subject,
                from: self,
                patience,
                isUnderWay: isUnderWay,
                unless: answer
            )
        }
        return .right(try await RefreshLock.acquire(RefreshLock.range(account, subject), of: path, patience))
    }
}
