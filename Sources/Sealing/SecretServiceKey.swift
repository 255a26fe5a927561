import OAuth

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
                """
                the keyring is open and holds no key of this store (application tokenstore, store \(store)); \
                bring the keyring back from a copy, nothing else opens the store
                """
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
            throw .keyUnavailable("the keyring did not keep the key it was given; choose another key source")
        }
        return KeyEncryptionKey(bytes: bytes)
    }

    private var store: String { context.storeID.hexadecimal }

    private func key(from text: Secret) throws(SealingError) -> KeyEncryptionKey {
        guard let bytes = KeyText.decode(text) else {
            throw .keyMalformed(
                "what the keyring holds for this store (\(store)) is no key; bring the keyring back from a copy"
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
            "the keyring did not answer within \(context.deadline); restart it, or choose another key source"
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
                """
                there is no session bus and so no keyring, DBUS_SESSION_BUS_ADDRESS is not set; log in to a desktop, \
                or choose another key source, such as file
                """
            )
        }
    }
    #else
    func load() throws(SealingError) -> KeyEncryptionKey { throw Self.forLinux }

    func create() throws(SealingError) -> KeyEncryptionKey { throw Self.forLinux }

    private static let forLinux = SealingError.keyUnavailable(
        "the key source secret-service is for Linux; choose another one, such as file"
    )
    #endif
}
