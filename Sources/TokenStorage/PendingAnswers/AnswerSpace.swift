import OAuth
import Sealing
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Room on the disk for an issuer's answer, taken before the request is sent that the answer is to.
///
/// A disk that fills up meanwhile does not cost the session: what cannot be committed is written here.
package final class AnswerSpace: Sendable {
    /// The key to seal under if the store cannot be asked for a newer one; nil where there is no store yet.
    let sealer: Sealer?
    let storeID: [UInt8]
    let lastEvent: Int64
    /// nil for a store on a server, which has nothing beside it.
    private let room: AnswerRoom?
    private let unfinished: UnfinishedAnswers

    /// Counts an answer for a store on a server.
    ///
    /// - Throws: `CancellationError` if the store is being left.
    init(counting unfinished: UnfinishedAnswers) throws {
        (sealer, storeID, lastEvent, room) = (nil, [], 0, nil)
        self.unfinished = unfinished
        try unfinished.begin()
    }

    /// Takes room beside a store.
    ///
    /// - Throws: ``TokenStoreError``; `CancellationError` if the store is being left.
    init(
        at path: StorePath,
        sealer: Sealer?,
        storeID: [UInt8] = [],
        lastEvent: Int64 = 0,
        counting unfinished: UnfinishedAnswers
    ) throws {
        self.sealer = sealer
        self.storeID = storeID
        self.lastEvent = lastEvent
        self.unfinished = unfinished
        room = try sealer == nil ? AnswerRoom(forStoreAt: path) : unfinished.room(at: path)
        // From here on deinit runs when this throws.
        try unfinished.begin()
    }

    deinit {
        if sealer != nil, let room { unfinished.giveBack(room) }
        unfinished.end()
    }

    /// The file's name once it has one; nil where there is no room.
    var file: PendingFile? { room?.file }

    /// Writes `bytes` to the disk and gives the file its name.
    func publish(_ bytes: [UInt8]) throws { try room?.publish(bytes) }

    /// Leaves what was taken for a store that is yet to be made to that store.
    func makeWayForStore() {
        if sealer == nil { room?.shrink() }
    }
}

/// A file with room for an answer; it has no name until then, so the kernel gives the room back when the process dies.
final class AnswerRoom: Sendable {
    /// Enough for the tokens of any issuer that is known; a larger answer needs more room than was set aside.
    private static let byteCount: off_t = 1 << 16

    /// Enough to make a store.
    private static let newStoreByteCount: off_t = 1 << 19

    let file: PendingFile
    private let draft: LockedValue<(file: DraftFile, isTouched: Bool)>

    /// Takes room beside a store that is there.
    convenience init(besideStoreAt path: StorePath) throws {
        try self.init(PendingFile(new: path), in: path.directory, byteCount: Self.byteCount)
    }

    /// Takes room for a store that is yet to be made, in the nearest directory that is there.
    convenience init(forStoreAt path: StorePath) throws {
        let directory = path.missingDirectories().place
        try self.init(PendingFile(new: path), in: directory, byteCount: Self.newStoreByteCount)
    }

    private init(_ file: PendingFile, in directory: String, byteCount: off_t) throws {
        self.file = file
        guard let draft = DraftFile(for: file.name, in: directory), Self.allocate(draft.descriptor, count: byteCount)
        else {
            throw StoreFile.failure("written to", directory)
        }
        self.draft = LockedValue((draft, false))
    }

    /// Writes `bytes` to the disk and gives the file its name.
    func publish(_ bytes: [UInt8]) throws {
        let isPublished = draft.withLock { draft in
            draft.isTouched = true
            return bytes.withUnsafeBytes { draft.file.append($0) }
                && ftruncate(draft.file.descriptor, off_t(bytes.count)) == 0 && draft.file.commit(replacing: false)
        }
        guard isPublished else { throw StoreFile.failure("written", file.name) }
    }

    /// Gives back all but the room for the answer itself.
    func shrink() {
        draft.withLock { draft in
            guard !draft.isTouched else { return }
            // Where that fails, the store has to find other room.
            _ = ftruncate(draft.file.descriptor, Self.byteCount)
        }
    }

    /// Whether the room is as it was taken, and can still be given a name beside the store.
    func isGood(for path: StorePath) -> Bool {
        draft.withLock { !$0.isTouched && !$0.file.hasName && $0.file.isBound(to: path.directory) }
    }

    private static func allocate(_ descriptor: Int32, count: off_t) -> Bool {
        #if !canImport(Darwin)
        var result = posix_fallocate(descriptor, 0, count)
        while result == EINTR { result = posix_fallocate(descriptor, 0, count) }
        if result == 0 { return true }
        errno = result
        // Not every file system, nor every container, lets it be asked for.
        guard [EOPNOTSUPP, EINVAL, ENOSYS, EPERM].contains(result) else { return false }
        #endif
        return (try? StoreFile.fill(descriptor, size: Int64(count), of: "")) != nil
    }
}

/// How many answers of issuers are under way, and who waits for them to be stored.
package final class UnfinishedAnswers: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = LockedValue(State())

    /// Room that was taken and not needed.
    private let spare = LockedValue<AnswerRoom?>(nil)

    /// Room beside a store: what the request before this one left, or new room.
    ///
    /// One is kept for as long as the store is open. Taking it and giving it back takes milliseconds where the file
    /// system tells the disk of it, which would be a part of every refresh.
    func room(at path: StorePath) throws -> AnswerRoom {
        let kept = spare.withLock { spare in
            defer { spare = nil }
            return spare
        }
        if let kept, kept.isGood(for: path) { return kept }
        return try AnswerRoom(besideStoreAt: path)
    }

    func giveBack(_ room: AnswerRoom) { spare.withLock { $0 = $0 ?? room } }

    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Lets none begin any more.
    ///
    /// - Returns: whether none is under way.
    func refuse() -> Bool {
        state.withLock { state in
            state.isClosed = true
            return state.count == 0
        }
    }

    /// - Throws: `CancellationError` after ``close()`` or ``refuse()``.
    func begin() throws {
        let isClosed = state.withLock { state in
            state.count += 1
            return state.isClosed
        }
        if isClosed { throw CancellationError() }
    }

    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Lets none begin any more, and waits for those that have.
    func close() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                state.isClosed = true
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isDone { continuation.resume() }
        }
    }
}
