#if os(Linux)
import OAuth

/// A separate connection to the Secret Service, which never causes a prompt.
///
/// Used by the thread that made it. The connection is not GLib's shared one: that would serve a read-back after a
/// write from the same session, hang all that come after one that hangs, and end the process with the bus.
final class Keyring {
    private typealias Object = LibSecret.Object

    private let library: LibSecret
    private let cancellation: Cancellation
    private let connection: Object
    private let service: Object
    private let attributes: Object

    /// Connects to the bus at `address`; the store's key has the attributes `application` and `store`.
    init(_ library: LibSecret, address: String, store: String, _ cancellation: Cancellation) throws(SealingError) {
        self.library = library
        self.cancellation = cancellation
        // G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT and MESSAGE_BUS_CONNECTION
        let connection = try library.glib.checked { library.glib.connect(address, 1 | 8, nil, cancellation.object, $0) }
        guard let connection else { throw LibSecret.incapable }
        self.connection = connection
        do throws(SealingError) {
            service = try library.service(over: connection, cancellation)
            attributes = try library.glib.table(["application": "tokenstore", "store": store])
        } catch {
            library.glib.unref(connection)
            throw error
        }
    }

    deinit {
        library.glib.unrefTable(attributes)
        library.glib.unref(service)
        // Nothing depends on how the bus takes the goodbye.
        _ = library.glib.close(connection, cancellation.object, nil)
        library.glib.unref(connection)
    }

    /// The text of the key, nil if there is none.
    func find() throws(SealingError) -> Secret? {
        let found = try library.glib.checked {
            library.search(service, nil, attributes, Self.all, cancellation.object, $0)
        }
        defer { library.glib.freeList(found, library.glib.unref) }
        var link = found
        var isLocked = false
        // A `GList` is the item, the next link and the previous one.
        while let current = link {
            if let item = current.load(as: Object?.self) {
                if library.isItemLocked(item) == 0 { return try secret(of: item) }
                isLocked = true
            }
            link = current.load(fromByteOffset: MemoryLayout<Object>.size, as: Object?.self)
        }
        if isLocked { throw Self.locked }
        return nil
    }

    /// Keeps `text` as the key, in the keyring that is the default one.
    func add(_ text: Secret) throws(SealingError) {
        let collection = try library.glib.checked {
            library.collection(service, "default", 0, cancellation.object, $0)
        }
        guard let collection else {
            throw .keyUnavailable(
                "no default keyring exists",
                .provideKey("create one, such as by logging in to the desktop")
            )
        }
        defer { library.glib.unref(collection) }
        if library.isCollectionLocked(collection) != 0 { throw Self.locked }
        let value = text.withUnsafeBytes { library.newSecret($0.baseAddress, $0.count, "text/plain") }
        guard let value else { throw LibSecret.incapable }
        defer { library.unrefSecret(value) }
        let item = try library.glib.checked {
            library.createItem(collection, nil, attributes, "Key of tokenstore", value, 0, cancellation.object, $0)
        }
        if let item { library.glib.unref(item) }
    }

    private func secret(of item: Object) throws(SealingError) -> Secret {
        _ = try library.glib.checked { library.loadSecret(item, cancellation.object, $0) }
        guard let value = library.secret(item) else { throw Self.locked }
        defer { library.unrefSecret(value) }
        var count: UInt = 0
        let bytes = library.bytes(value, &count)
        return Secret(copying: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    /// SECRET_SEARCH_ALL, and neither UNLOCK, which would ask a person, nor LOAD_SECRETS.
    private static let all: Int32 = 1 << 1

    private static let locked = SealingError.keyLocked(
        "the keyring that holds the store's key is locked",
        .provideKey("unlock it, such as by logging in to the desktop")
    )
}

/// A `GCancellable`, which any thread may use to stop what another one waits for.
///
/// `@unchecked Sendable`: both fields are set once, and GLib lets every thread call every function of a `GCancellable`.
final class Cancellation: @unchecked Sendable {
    let object: LibSecret.Object?
    private let library: LibSecret

    init(_ library: LibSecret) {
        self.library = library
        object = library.glib.newCancellable()
    }

    func cancel() {
        if let object { library.glib.cancel(object) }
    }

    deinit {
        if let object { library.glib.unref(object) }
    }
}
#endif
