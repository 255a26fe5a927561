import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A key in the desktop's keyring, behind the Secret Service D-Bus API.
struct SecretServiceKey {
    let context: KeySourceContext

    #if os(Linux)
    func load() throws(SealingError) -> KeyEncryptionKey {
        guard let text = try ask({ keyring throws(SealingError) in try keyring.find() }) else {
            throw .keyAbsent(
                "the keyring is open and holds no key of this store (application tokenstore, store \(store))",
                Remedy(.restore, "restore the keyring from a copy, nothing else opens the store")
            )
        }
        return try key(from: text)
    }

    /// The key in the keyring, or a new one that a second connection has read back.
    func create() throws(SealingError) -> KeyEncryptionKey {
        if let text = try ask({ keyring throws(SealingError) in try keyring.find() }) { return try key(from: text) }
        let bytes = Secret.random(count: KeyEncryptionKey.byteCount)
        let text = KeyText.encode(bytes)
        try ask { keyring throws(SealingError) in try keyring.add(text) }
        let readBack = try ask { keyring throws(SealingError) in try keyring.find() }
        guard readBack == text else {
            throw .keyUnavailable(
                "the keyring did not keep the key it was given",
                .provideKey("restart it")
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }

    private var store: String { context.storeID.hexadecimal }

    private func key(from text: Secret) throws(SealingError) -> KeyEncryptionKey {
        guard let bytes = KeyText.decode(text) else {
            throw .keyMalformed(
                "the keyring's entry for this store (\(store)) is not a key",
                Remedy(.restore, "restore the keyring from a copy")
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }

    /// Runs `work` with a new connection, for no longer than the deadline.
    private func ask<Answer: Sendable>(
        _ work: @escaping @Sendable (Keyring) throws(SealingError) -> Answer
    ) throws(SealingError) -> Answer {
        let library = try LibSecret(context.secretServiceLibrary)
        let address = try busAddress
        let store = store
        let cancellation = Cancellation(library)
        let thread = try TimedThread { () -> Result<Answer, SealingError> in
            do throws(SealingError) {
                let keyring = try Keyring(library, address: address, store: store, cancellation)
                return .success(try work(keyring))
            } catch {
                return .failure(error)
            }
        }
        if let answer = thread.wait(context.deadline) { return try answer.get() }
        cancellation.cancel()
        throw .keyUnavailable(
            "the keyring did not answer within \(context.deadline)",
            .provideKey("restart it")
        )
    }

    private var busAddress: String {
        get throws(SealingError) {
            if let address = context.environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
            // The XDG Base Directory specification has a relative path ignored.
            if let directory = context.environment["XDG_RUNTIME_DIR"], PathParts.isAbsolute(directory),
                access(directory + "/bus", F_OK) == 0
            {
                return "unix:path=\(directory)/bus"
            }
            throw .keyUnavailable(
                "the keyring needs a session bus, and DBUS_SESSION_BUS_ADDRESS is not set",
                .provideKey("log in to a desktop")
            )
        }
    }
    #else
    func load() throws(SealingError) -> KeyEncryptionKey { throw Self.forLinux }

    func create() throws(SealingError) -> KeyEncryptionKey { throw Self.forLinux }

    private static let forLinux = SealingError.keyUnavailable(
        "the key source secret-service is for Linux",
        .changeKey("choose another one", to: "file")
    )
    #endif
}

#if os(Linux)
/// Work on a separate thread, so that a caller can stop waiting for it.
private final class TimedThread<Value: Sendable>: Sendable {
    private let value = LockedValue<Value?>(nil)
    private let pipe: PrivatePipe

    /// Starts `work`.
    init(_ work: @escaping @Sendable () -> Value) throws(SealingError) {
        guard let pipe = PrivatePipe() else { throw Self.failure(errno) }
        self.pipe = pipe
        guard DetachedThread.start({ self.finish(work()) }) else { throw Self.failure(errno) }
    }

    /// What the work returned, nil if that takes longer than `limit`: then it goes on without a waiting caller.
    func wait(_ limit: Duration) -> Value? {
        let end = ContinuousClock.now + limit
        while true {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            var descriptor = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
            let count = poll(&descriptor, 1, Int32(clamping: Int64(max(0, left.rounded(.up)))))
            if count < 0, errno == EINTR { continue }
            return value.withLock { $0 }
        }
    }

    deinit { pipe.close() }

    private func finish(_ result: Value) {
        value.withLock { $0 = result }
        // Cannot fail: the other end is open as long as `self` lives.
        _ = write(pipe.writing, "", 1)
    }

    private static func failure(_ number: Int32) -> SealingError {
        .keyUnavailable("no thread can be started, \(String(cString: strerror(number)).lowercased())", .retryLater)
    }
}
#endif
