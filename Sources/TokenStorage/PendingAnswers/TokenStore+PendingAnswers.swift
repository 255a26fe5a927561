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
    /// - Throws: ``TokenStoreError`` if the store cannot take them now.
    package func takeInAnswers() throws {
        guard let path = location.path, try !PendingFile.all(of: path).isEmpty else { return }
        // Another thread may hold the lock and wait for this connection. So the connection is given back while the lock
        // is taken.
        let end = ContinuousClock.now + options.busyTimeout
        var pauses = Pauses()
        while try !withWriter({ try $0.takeInAnswersIfUnlocked() }) {
            guard ContinuousClock.now < end else { throw KernelLock.busy(path, for: options.busyTimeout) }
            pauses.next(until: end)
        }
    }

    /// Stores `answer` in one commit, or where that is not possible in a file that is taken in later.
    ///
    /// - Throws: ``TokenStoreError/Code/notStored`` if neither is possible, or nothing will take the file in.
    func keep(_ answer: PendingAnswer, in space: AnswerSpace?) throws -> SavedTokens {
        let start = ContinuousClock.now
        do {
            return try commit(answer, in: space, since: start, within: answerLimit)
        } catch let error as UncommittedAnswer {
            return try setAside(answer, in: space, because: error.cause, since: start)
        }
    }

    /// Stores `answer` in one commit; a store that is yet to be made gets the room that was taken for it.
    ///
    /// The store is waited for from `start` on, so that of many answers none waits for the time limits of those before.
    ///
    /// - Throws: ``UncommittedAnswer`` where a file may take it.
    func commit(
        _ answer: PendingAnswer,
        in space: AnswerSpace?,
        since start: ContinuousClock.Instant,
        within limit: Duration
    ) throws -> SavedTokens {
        space?.makeWayForStore()
        do {
            let limit = max(.zero, limit - (.now - start))
            // Before the store is waited for: an answer that is refused is not kept for later.
            let identity = try TokenStoreError.translating(at: location) { try self.identity(of: answer) }
            let saved = try withWriter(within: limit) { session in
                session.isStoringAnswer = true
                defer { session.isStoringAnswer = false }
                return try session.write(
                    presuming: session.presumption(for: answer, of: identity?.account?.id),
                    askingAhead: { try session.askAhead(for: answer, of: identity) }
                ) { try session.save(answer, of: identity, askedWith: space) }
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

    /// Whom the answer to a sign-in is about; nil of a refresh, which is about the account it was asked for.
    private func identity(of answer: PendingAnswer) throws -> ResponseIdentity? {
        guard answer.used == nil else { return nil }
        let identity = try ResponseIdentity(answer.response, request: answer.request)
        // A file is asked in the transaction, and is yet to be made perhaps.
        guard location.path == nil, identity.account?.withoutUserFlow != nil else { return identity }
        return try read { try $0.filed(identity) }
    }

    /// How long an answer waits for the store: a file beside it takes one soon, a server has nothing beside it.
    var answerLimit: Duration { location.path == nil ? options.busyTimeout : options.answerWait }

    /// How long a server is waited for when an answer is tried again, which keeps a connection from others.
    var repeatedAnswerLimit: Duration { min(answerLimit, .seconds(2)) }

    /// Whether an answer that a server did not take is tried again in a moment.
    ///
    /// Without the answer to a refresh the session is lost; who signs in is there to be told, and to do it again. So it
    /// is tried again after whatever an administrator may be mending: a server that refuses the role, the database or
    /// a right, or tables that are not there while a dump is restored. A store that was moved or is a newer version's
    /// does not come back, and a key or a value that does not open stays so. One that may have been stored would look as
    /// if another had spent its refresh token.
    func isTriedAgain(
        _ answer: PendingAnswer,
        after error: UncommittedAnswer,
        since start: ContinuousClock.Instant
    ) -> Bool {
        guard location.path == nil, answer.used != nil, .now - start < options.serverAnswerWait else { return false }
        let cause = error.cause
        let isFinal = [.moved, .newerStore].contains(cause.code) || cause.keyError != nil && cause.code != .busy
        return !isFinal && !cause.mayHaveHappened
    }

    /// Puts `answer` into a file, and from there into the store if that can be had in time.
    func setAside(
        _ answer: PendingAnswer,
        in space: AnswerSpace?,
        because cause: TokenStoreError,
        since start: ContinuousClock.Instant
    ) throws -> SavedTokens {
        guard let path = location.path else {
            throw TokenStoreError.notStored(answer.response, because: cause.losing(answer))
        }
        do {
            // The file first: it is safe whatever happens to this process while it waits for the store.
            let room = try space ?? reserveAnswerSpace()
            var answer = answer
            answer.lastEvent = room.lastEvent
            let file = try write(answer, in: room)
            if cause.code == .busy, let saved = try takeIn(file, of: path, since: start) { return saved }
            if cause.code != .moved { return try pending(answer, because: cause.problem) }
        } catch {
            throw TokenStoreError.notStored(answer.response, because: cause.losing(answer))
        }
        // No command takes it in until the move is taken back, and the new place never has it.
        throw TokenStoreError.notStored(answer.response, because: cause.keepingAnswer)
    }

    private func write(_ answer: PendingAnswer, in space: AnswerSpace) throws -> PendingFile {
        // A rekey takes in what waits before it forgets the old key, under the same lock; without it, the key that is
        // current now may be gone in a moment.
        let lock = lockOfAnswers()
        defer { withExtendedLifetime(lock) {} }
        // Where the store cannot be read, what was known of it has to do; a space that was taken before there was one
        // knows nothing.
        let (found, storeID) = fittingSealer(besides: space) ?? (sealer: space.sealer, storeID: space.storeID)
        guard let sealer = found else {
            throw TokenStoreError.storage("the store has no key by now that this program could have", .signInAgain)
        }
        guard let file = space.file else {
            throw TokenStoreError.storage("no room was taken for the answer", .retry)
        }
        try space.publish(file.sealed(answer, by: sealer, storeID: storeID))
        return file
    }

    /// The lock; nil where it cannot be had, as the answer matters more.
    private func lockOfAnswers() -> KernelLock? {
        try? KernelLock(.pendingAnswers, of: path, timeout: options.answerWait)
    }

    /// A key that the store will open the answer with, and the store's id; without a key where it has none that can be
    /// had, and nil where the store cannot be read.
    private func fittingSealer(besides space: AnswerSpace) -> (sealer: Sealer?, storeID: [UInt8])? {
        try? withWriter(within: options.answerWait) { session -> (sealer: Sealer?, storeID: [UInt8]) in
            let (ids, storeID) = (try session.connection.dataKeyIDs(), session.header.storeID)
            // The source that has the key now may ask a person, for which the others who want the lock should not wait.
            try? session.reloadKeysAtHand()
            let known = [session.keyRing?.currentSealer, space.storeID == storeID ? space.sealer : nil]
            if let fit = known.compactMap(\.self).first(where: { ids.contains($0.keyID) }) { return (fit, storeID) }
            guard !ids.isEmpty else { return (nil, storeID) }
            return (try? session.currentKeys().currentSealer, storeID)
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

extension TokenStoreError {
    /// Why the tokens of `answer` are nowhere; without those of a refresh the session may be over.
    fileprivate func losing(_ answer: PendingAnswer) -> TokenStoreError {
        answer.used == nil ? self : TokenStoreError(code, problem + ", and the session may be over", remedy)
    }

    /// That a store was moved, as it is said where an answer waits beside it.
    fileprivate var keepingAnswer: TokenStoreError {
        let isKnown = remedy?.code == .choosePath
        return TokenStoreError(
            code,
            problem + ", and a file beside it keeps them in case the move is taken back",
            isKnown ? Remedy.signIn("name the store with its new place, and sign in there again") : remedy
        )
    }
}

extension TokenStore {
    /// What the caller gets of an answer that waits in a file, under the account that it will be stored for.
    private func pending(_ answer: PendingAnswer, because reason: String) throws -> SavedTokens {
        let named = try ResponseIdentity(answer.response, request: answer.request)
        let isFiledOtherwise = answer.used == nil && named.account?.withoutUserFlow != nil
        let identity = (isFiledOtherwise ? try? read { try $0.filed(named) } : nil) ?? named
        return try answer.pending(because: reason, identity)
    }
}

extension PendingAnswer {
    fileprivate func pending(because reason: String, _ identity: ResponseIdentity) throws -> SavedTokens {
        let granted = response.scope ?? request.scope
        let token = AccessTokenRow(response, request: request, realm: Realm(identity.realm), now: receivedAt)
        let stored = identity.storedAccount(typed: request.username)
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
