import Database
import OAuth
import Sealing

extension TokenStore {
    /// Takes room for the answer to a request that is about to be sent; it is given back when the result is freed.
    ///
    /// - Throws: ``TokenStoreError`` where an answer could not be kept; the request is better not sent then.
    package func reserveAnswerSpace() throws -> AnswerSpace {
        guard let path = location.path else { return try AnswerSpace(counting: unfinishedAnswers) }
        guard !FileStatus.isAbsent(path.database) else {
            return try AnswerSpace(at: path, sealer: nil, counting: unfinishedAnswers)
        }
        return try withWriter { session in
            try AnswerSpace(
                at: path,
                sealer: session.currentSealer(),
                storeID: session.header.storeID,
                lastEvent: session.lastEvent(),
                counting: unfinishedAnswers
            )
        }
    }

    /// Whether a request is under way, or its answer not stored yet, that the session hangs on.
    package var isExpectingAnswer: Bool { !unfinishedAnswers.isEmpty }

    /// Lets no further request begin that the session hangs on.
    ///
    /// - Returns: whether one is under way.
    package func refuseFurtherAnswers() -> Bool { !unfinishedAnswers.refuse() }

    /// Waits until the answers of issuers that are under way are stored, and lets no further request for one begin.
    ///
    /// A refresh that its callers no longer wait for goes on; a program calls this last, so that it is not cut off.
    public func finishAnswers() async { await unfinishedAnswers.close() }

    /// Stores the answers that wait in files beside the store, if there are any.
    ///
    /// - Returns: whether there were.
    /// - Throws: ``TokenStoreError`` if the store cannot take them now.
    @discardableResult
    package func takeInAnswers() throws -> Bool {
        guard let path = location.path, try !PendingFile.all(of: path).isEmpty else { return false }
        return try withWriter { session in
            let lock = try KernelLock(.pendingAnswers, of: path, timeout: options.busyTimeout)
            defer { withExtendedLifetime(lock) {} }
            return try !session.takeInAnswers().isEmpty
        }
    }

    /// Stores `answer` in one commit, or where that is not possible in a file that is taken in later.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` if neither is possible, or nothing will take the file in.
    func keep(_ answer: PendingAnswer, in space: AnswerSpace?) throws -> SavedTokens {
        let start = ContinuousClock.now
        do {
            return try commit(answer, since: start, within: answerLimit)
        } catch let error as UncommittedAnswer {
            return try setAside(answer, in: space, because: error.cause, since: start)
        }
    }

    /// Stores `answer` in one commit.
    ///
    /// The store is waited for from `start` on, so that of many answers none waits for the time limits of those before.
    ///
    /// - Throws: ``UncommittedAnswer`` where a file may take it.
    func commit(
        _ answer: PendingAnswer,
        since start: ContinuousClock.Instant,
        within limit: Duration
    ) throws -> SavedTokens {
        do {
            let limit = max(.zero, limit - (.now - start))
            let saved = try withWriter(within: limit) { session in
                session.isStoringAnswer = true
                defer { session.isStoringAnswer = false }
                let identity =
                    try answer.used == nil ? ResponseIdentity(answer.response, request: answer.request) : nil
                return try session.write(
                    presuming: session.presumption(for: answer, of: identity?.account?.id),
                    askingAhead: { try session.askAhead(for: answer, of: identity) }
                ) { try session.save(answer, of: identity) }
            }
            guard let saved else {
                throw TokenStoreError.busy("another thread holds \(location)", .retryLater)
            }
            return saved
        } catch is MismatchedAccount {
            throw TokenStoreError.otherAccount(answer.response)
        } catch let error as TokenStoreError where error.code == .invalidArgument {
            // No store takes it, at no time.
            throw TokenStoreError.notStored(answer.response, because: error)
        } catch let error as TokenStoreError {
            throw UncommittedAnswer(cause: error)
        } catch {
            throw TokenStoreError.notStored(answer.response, reason: "\(error)")
        }
    }

    /// How long an answer waits for the store: a file beside it takes one soon, a server has nothing beside it.
    var answerLimit: Duration { location.path == nil ? options.busyTimeout : options.answerWait }

    /// How long a server is waited for when an answer is tried again, which keeps a connection from others.
    var repeatedAnswerLimit: Duration { min(answerLimit, .seconds(2)) }

    /// Whether an answer that a server did not take is tried again in a moment.
    ///
    /// Without the answer to a refresh the session is lost; who signs in is there to be told, and to do it again. One
    /// that may have been stored would look as if another had spent its refresh token.
    func isTriedAgain(
        _ answer: PendingAnswer,
        after error: UncommittedAnswer,
        since start: ContinuousClock.Instant
    ) -> Bool {
        guard location.path == nil, answer.used != nil, .now - start < options.serverAnswerWait else { return false }
        let isPassing = [.unreachable, .busy].contains(error.cause.code) || error.cause.remedy?.code == .freeSpace
        return isPassing && !error.cause.mayHaveHappened
    }

    /// Puts `answer` into a file, and from there into the store if that can be had in time.
    func setAside(
        _ answer: PendingAnswer,
        in space: AnswerSpace?,
        because cause: TokenStoreError,
        since start: ContinuousClock.Instant
    ) throws -> SavedTokens {
        guard let path = location.path else {
            throw TokenStoreError.notStored(answer.response, because: cause)
        }
        do {
            // The file first: it is safe whatever happens to this process while it waits for the store.
            let room = try space ?? reserveAnswerSpace()
            var answer = answer
            answer.lastEvent = room.lastEvent
            let file = try write(answer, in: room)
            if cause.code == .busy, let saved = try takeIn(file, of: path, since: start) { return saved }
            if cause.code != .moved { return try answer.pending(because: cause.problem) }
        } catch {
            throw TokenStoreError.notStored(answer.response, because: cause)
        }
    }

    private func write(_ answer: PendingAnswer, in space: AnswerSpace) throws -> PendingFile {
        // A rekey takes in what waits before it forgets the old key, under the same lock; without it, the key that is
        // current now may be gone in a moment.
        // No command takes it in until somebody takes the move back, and the new place never has it.
        throw TokenStoreError.notStored(answer.response, because: cause.keepingAnswer)
        let lock = try lockOfAnswers()
        defer { withExtendedLifetime(lock) {} }
        // The key and the id of one store: a space that was taken before there was a store knows neither.
        let newest = newestSealer()
        guard let sealer = newest?.sealer ?? space.sealer else {
            throw TokenStoreError.storage("there is no store yet to seal the answer for", .signInAgain)
        }
        guard let file = space.file else {
            throw TokenStoreError.storage("no room was taken for the answer", .retry)
        }
        try space.publish(file.sealed(answer, by: sealer, storeID: newest?.storeID ?? space.storeID))
        return file
    }

    private func lockOfAnswers() throws(TokenStoreError) -> KernelLock? {
        do {
            return try KernelLock(.pendingAnswers, of: path, timeout: options.answerWait)
        } catch let error where error.code == .busy {
            return nil
        }
    }

    /// The current key as the file has it, and the id of the store there; nil where they cannot be read.
    private func newestSealer() -> (sealer: Sealer, storeID: [UInt8])? {
        do {
            let found: (sealer: Sealer?, storeID: [UInt8])? = try withWriter(within: options.answerWait) { session in
                (try session.currentKeys().currentSealer, session.header.storeID)
            }
            guard let found, let sealer = found.sealer else { return nil }
            return (sealer, found.storeID)
        } catch {
            return nil
        }
    }

    /// Stores the answer in `file` if the store can be had in time; nil if not.
    private func takeIn(_ file: PendingFile, of path: StorePath, since start: ContinuousClock.Instant) throws
        -> SavedTokens?
    {
        do {
            let limit = max(.zero, options.pendingWait - (.now - start))
            let lock = try KernelLock(.pendingAnswers, of: path, timeout: limit)
            defer { withExtendedLifetime(lock) {} }
            return try withWriter(within: limit) { try $0.takeInAnswers()[file] } ?? nil
        } catch {
            // The file stays, and is the answer's place until the next process comes.
            return nil
        }
    }
}

/// The store could not take an answer.
struct UncommittedAnswer: Error {
    let cause: TokenStoreError
}

extension PendingAnswer {
    /// What the caller gets of an answer that waits in a file.
    fileprivate func pending(because reason: String) throws -> SavedTokens {
        let identity = try ResponseIdentity(response, request: request)
        let granted = response.scope ?? request.scope
        let token = AccessTokenRow(response, request: request, realm: Realm(identity.realm), now: receivedAt)
        let stored = identity.storedAccount(typed: request.username)
extension TokenStoreError {
    /// That a store was moved, as it is said where an answer waits beside it.
    fileprivate var keepingAnswer: TokenStoreError {
        let isKnown = remedy?.code == .choosePath
        return TokenStoreError(
            code,
            problem + ", and a file beside it keeps them in case that the move is taken back",
            isKnown ? Remedy.signIn("name the store with its new place, and sign in there again") : remedy
        )
    }
}

        return SavedTokens(
            account: used?.account ?? identity.account?.id,
            accessToken: token.map { AccessToken($0) },
            grantedScope: granted,
            declinedScope: request.scope.missing(from: granted),
            outcome: .pending(reason: reason),
            described: identity.account.map { account in
                Account(
                    id: account.id,
                    environment: account.environment,
                    issuer: stored.issuer,
                    username: stored.username,
                    name: stored.name,
                    userFlow: stored.policy,
                    uid: account.uid,
                    utid: account.utid,
                    tenantProfiles: []
                )
            }
        )
    }
}
