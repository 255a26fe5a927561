import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Room on the disk for an issuer's answer, taken before the request is sent that the answer is to.
///
/// A disk that fills up meanwhile does not cost the session: what cannot be committed is written here. The file has no
/// name until then, so the kernel gives the room back when the process dies.
package final class AnswerSpace: Sendable {
    /// Enough for the tokens of any issuer that is known; a larger answer needs more room than was set aside.
    private static let byteCount: off_t = 1 << 16

    /// Enough to make a store.
    private static let newStoreByteCount: off_t = 1 << 19

    /// The file's name once it has one.
    let file: PendingFile

    /// The key to seal under if the store cannot be asked for a newer one; nil where there is no store yet.
    let sealer: Sealer?
    let storeID: [UInt8]
    let lastEvent: Int64
    private let draft: Guarded<DraftFile>
    private let unfinished: UnfinishedAnswers

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
        file = PendingFile(new: path)
        self.sealer = sealer
        self.storeID = storeID
        self.lastEvent = lastEvent
        let directory = Self.existing(path.directory)
        guard let draft = DraftFile(for: sealer == nil ? directory + "/new" : file.name) else {
            throw StoreFile.failure("written to", directory)
        }
        self.draft = Guarded(draft)
        self.unfinished = unfinished
        // From here on deinit runs when this throws.
        try unfinished.begin()
        let count = sealer == nil ? Self.newStoreByteCount : Self.byteCount
        guard self.draft.withLock({ Self.allocate($0.descriptor, count: count) }) else {
            throw StoreFile.failure("written to", directory)
        }
    }

    deinit { unfinished.end() }

    /// Writes `bytes` to the disk and gives the file its name.
    func publish(_ bytes: [UInt8]) throws {
        let isPublished = draft.withLock { draft in
            bytes.withUnsafeBytes { draft.append($0) } && ftruncate(draft.descriptor, off_t(bytes.count)) == 0
                && draft.commit(replacing: false)
        }
        guard isPublished else { throw StoreFile.failure("written", file.name) }
    }

    /// The directory, or the nearest one above it that is there.
    private static func existing(_ directory: String) -> String {
        var directory = directory
        while directory != "/", FileStatus(following: directory) == nil {
            directory = PathParts(directory).directory
        }
        return directory
    }

    private static func allocate(_ descriptor: Int32, count: off_t) -> Bool {
        #if !canImport(Darwin)
        let result = posix_fallocate(descriptor, 0, count)
        if result == 0 { return true }
        errno = result
        guard result == EOPNOTSUPP || result == EINVAL else { return false }
        #endif
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        return stride(from: 0, to: count, by: zeros.count).allSatisfy {
            pwrite(descriptor, zeros, zeros.count, $0) == zeros.count
        }
    }
}

/// How many answers of issuers are under way, and who waits for them to be stored.
package final class UnfinishedAnswers: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

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
