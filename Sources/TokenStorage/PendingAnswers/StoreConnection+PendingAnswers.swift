import Database
import OAuth
import Sealing

extension StoreConnection {
    /// Stores an answer in the transaction that is open; of a sign-in it may be known already who that is.
    func save(_ answer: PendingAnswer, of known: ResponseIdentity? = nil) throws -> SavedTokens {
        guard let used = answer.used else { return try save(answer.response, for: answer.request, of: known) }
        return try save(answer.response, for: answer.request, refreshing: used)
    }

    /// The same for an answer that has just come, to a request for which `space` was taken.
    func save(
        _ answer: PendingAnswer,
        of known: ResponseIdentity?,
        askedWith space: AnswerSpace?
    ) throws -> SavedTokens {
        // The space for an answer that goes to a server names no store.
        guard answer.used != nil, let space, space.storeID == header.storeID else {
            return try save(answer, of: known)
        }
        // What was done in the same store since is in its record.
        isOlderThanAnswer = try lastEvent() <= space.lastEvent
        entryBeforeRequest = space.lastEvent
        defer { (isOlderThanAnswer, entryBeforeRequest) = (false, nil) }
        return try save(answer, of: known)
    }

    /// Whether the record of use says that the person has signed in anew since `used` was sent, by its order of entries
    /// and not by the clock.
    func hasSignedIn(sinceSending used: StoredRefreshToken) throws -> Bool {
        guard let entryBeforeRequest, let mark = try mark(of: used.account) else { return false }
        return try events(after: entryBeforeRequest).contains { event in
            event.kind == .signIn && event.accountMark == mark && event.clientID?.folded == used.clientID.folded
        }
    }

    /// Asks a server what storing an answer will ask; a refresh has asked most of it before it was sent.
    func askAhead(for answer: PendingAnswer, of identity: ResponseIdentity?) throws {
        let request = answer.request
        if let id = answer.used?.account ?? identity?.account?.id {
            try askAheadForRow(of: id)
            try askAheadForSignOuts(of: id)
        }
        try askAheadForAppMetadata(client: request.clientID, environment: request.authority.environment)
    }

    /// Stores the answers that wait in files, each once, and removes the files.
    ///
    /// One that cannot be opened stays where it is: a check names it. The caller holds the lock on these files.
    ///
    /// - Returns: what became of each.
    /// - Throws: what keeps the store from taking any.
    func takeInAnswers() throws -> [PendingFile: SavedTokens] {
        let files = try PendingFile.all(of: path)
        var waiting: [(file: PendingFile, answer: PendingAnswer)] = []
        for file in files {
            do {
                waiting.append((file, try answer(in: file)))
            } catch is UnreadableAnswer {
                continue
            }
        }
        waiting.sort { ($0.answer.receivedAt, $0.answer.lastEvent) < ($1.answer.receivedAt, $1.answer.lastEvent) }
        var taken: [PendingFile: SavedTokens] = [:]
        for (file, answer) in waiting {
            do {
                taken[file] = try takeIn(answer, from: file)
            } catch let error as SQLiteError where error.code.isPassing {
                throw error
            } catch {
                // Not an answer that fits this store; to keep it does no harm, and not to would lose it.
                continue
            }
            try file.destroy()
        }
        return taken
    }

    /// The same, unless another has the lock, who is not waited for: that one may wait for this connection.
    ///
    /// - Returns: false if another has it.
    @discardableResult
    func takeInAnswersIfUnlocked() throws -> Bool {
        guard let path = location.path, try !PendingFile.all(of: path).isEmpty else { return true }
        let lock = try KernelLock(of: path)
        guard try lock.tryLock(.pendingAnswers, of: path) else { return false }
        defer { withExtendedLifetime(lock) {} }
        _ = try takeInAnswers()
        return true
    }

    /// The answer in a file.
    ///
    /// - Throws: ``UnreadableAnswer``; an error of the key source, which leaves all of them as they are.
    func answer(in file: PendingFile) throws -> PendingAnswer {
        do {
            let body = try file.body(storeID: header.storeID)
            let plaintext = try body.withUnsafeBytes { try open($0, as: file.location) }
            return try plaintext.withUnsafeBytes { try PendingAnswer(decoding: $0) }
        } catch let error as SealingError where TokenStoreError.key(error).code == .key {
            throw error
        } catch let error as SQLiteError {
            throw error
        } catch let error as TokenStoreError {
            throw UnreadableAnswer(problem: error.problem, remedy: error.remedy ?? .checkPermissions)
        } catch {
            throw UnreadableAnswer(
                problem: "\(file.name) is damaged or sealed under a key that is gone",
                remedy: Remedy(.removeFile, "delete it, and sign in again where a session is missing")
            )
        }
    }

    /// The files of answers that are this store's, whether or not they can be opened.
    ///
    /// The stores `x` and `x.db` of one directory have their answers under the same names.
    func ownAnswers() throws -> [PendingFile] {
        guard let path = location.path else { return [] }
        return try PendingFile.all(of: path, for: header.storeID)
    }

    /// Why files named like answers will not be taken in; no repair of the database changes that.
    func unreadableAnswers() throws -> [(file: PendingFile, error: UnreadableAnswer)] {
        guard let path = location.path else { return [] }
        return try PendingFile.all(of: path).compactMap { file in
            do {
                _ = try answer(in: file)
                return nil
            } catch let error as UnreadableAnswer {
                return (file, error)
            }
        }
    }

    private func takeIn(_ answer: PendingAnswer, from file: PendingFile) throws -> SavedTokens? {
        answerTime = answer.receivedAt
        defer { (answerTime, isOlderThanAnswer) = (nil, false) }
        return try write {
            // What was done in the same store since is in its record.
            isOlderThanAnswer = try lastEvent() <= answer.lastEvent
            let answerID = String(file.id, radix: 16)
            guard try !isTakenIn(answerID: answerID) else { return nil }
            let saved = try isOvertaken(answer) ? nil : save(answer)
            try record(.takeIn, outcome: answerID, account: saved?.account, client: answer.request.clientID)
            return saved
        }
    }

    /// Whether the store has got something newer since: a sign-out, a purge, a sign-in, or a newer refresh token; an
    /// older one is there where a backup was restored.
    private func isOvertaken(_ answer: PendingAnswer) throws -> Bool {
        if let used = answer.used { return try !isReplaceable(used) }
        let identity = try filed(ResponseIdentity(answer.response, request: answer.request))
        guard let id = identity.account?.id else { return false }
        let (client, isThere) = (answer.request.clientID.folded, try accountRow(id) != nil)
        let mark = try mark(of: id)
        // A record of use that does not reach back to the answer does not tell of a sign-out or sign-in since.
        if try lastEvent() - answer.lastEvent >= StoreEvent.limit {
            if try signInState(of: id, client: client) == .signedOut { return true }
            let session = try sessionTimes(of: id, client: client)
            if let session, session.signIn >= answer.receivedAt { return true }
        }
        let later = try events(after: answer.lastEvent).filter { $0.clientID == nil || $0.clientID?.folded == client }
        let own = later.filter { $0.account == id || mark != nil && $0.accountMark == mark }
        let isReplaced = own.indices.contains { index in
            switch own[index].kind {
            case .signOut: true
            case .signIn: !isOfAnswer(from: own[index...], receivedBy: answer.receivedAt)
            default: false
            }
        }
        // The record does not say which accounts a purge took. A sign-in that was answered later is newer anyway.
        return isReplaced
            || !isThere
                && later.contains {
                    $0.kind == .purge && $0.outcome != "expired" && $0.at.unixSeconds >= answer.receivedAt
                }
    }

    /// Whether the first of an account's entries is a sign-in whose answer waited in a file too and came no later than
    /// `time`: it has its entries only since it was taken in.
    private func isOfAnswer(from entries: ArraySlice<StoreEvent>, receivedBy time: Int64) -> Bool {
        guard let signIn = entries.first, let next = entries.dropFirst().first else { return false }
        return next.kind == .takeIn && next.at == signIn.at && signIn.at.unixSeconds <= time
    }
}

/// A file does not hold an answer that this store can open.
struct UnreadableAnswer: Error {
    let problem: String
    let remedy: Remedy
}

extension SQLiteError.Code {
    /// Whether the same statements may succeed later.
    var isPassing: Bool {
        [.busy, .locked, .diskFull, .ioError, .readOnly, .cannotOpen, .permission].contains(primary)
    }
}
