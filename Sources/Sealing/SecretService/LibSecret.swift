#if os(Linux)
import OAuth
import Synchronization

/// The functions of libsecret that ``Keyring`` calls, and GLib below it.
///
/// `@unchecked Sendable`: it holds addresses of functions, which never change; the library stays loaded for good.
struct LibSecret: @unchecked Sendable {
    typealias Object = GLib.Object
    typealias Failure = GLib.Failure

    let glib: GLib
    private let serviceType: @convention(c) () -> UInt
    let search: @convention(c) (Object, Object?, Object, Int32, Object?, Failure) -> Object?
    let isItemLocked: @convention(c) (Object) -> Int32
    let loadSecret: @convention(c) (Object, Object?, Failure) -> Int32
    let secret: @convention(c) (Object) -> Object?
    let collection: @convention(c) (Object, UnsafePointer<CChar>, Int32, Object?, Failure) -> Object?
    let isCollectionLocked: @convention(c) (Object) -> Int32
    let createItem:
        @convention(c) (Object, Object?, Object, UnsafePointer<CChar>, Object, Int32, Object?, Failure) -> Object?
    let newSecret: @convention(c) (UnsafeRawPointer?, Int, UnsafePointer<CChar>) -> Object?
    let bytes: @convention(c) (Object, UnsafeMutablePointer<UInt>) -> UnsafeRawPointer?
    let unrefSecret: @convention(c) (Object) -> Void

    /// Loads the library `name`.
    init(_ name: String) throws(SealingError) {
        // The layouts of GLib's types are written down for 64-bit machines only.
        guard MemoryLayout<Int>.size == 8 else { throw Self.incapable }
        let library = try DynamicLibrary(name)
        glib = try GLib(library)
        serviceType = try library.function("secret_service_get_type")
        search = try library.function("secret_service_search_sync")
        isItemLocked = try library.function("secret_item_get_locked")
        loadSecret = try library.function("secret_item_load_secret_sync")
        secret = try library.function("secret_item_get_secret")
        collection = try library.function("secret_collection_for_alias_sync")
        isCollectionLocked = try library.function("secret_collection_get_locked")
        createItem = try library.function("secret_item_create_sync")
        newSecret = try library.function("secret_value_new")
        bytes = try library.function("secret_value_get")
        unrefSecret = try library.function("secret_value_unref")
    }

    static let incapable = SealingError.keyUnavailable(
        "the keyring cannot be used",
        Remedy(.install, "install libsecret 0.20 or later")
    )
}

extension LibSecret {
    private static let objectType: UInt = 20 << 2
    private static let stringType: UInt = 16 << 2
    /// Held while a type is registered, which may happen once in a process.
    private static let registration = LockedValue(())

    /// A `SecretService` over `connection`.
    func service(over connection: Object, _ cancellation: Cancellation) throws(SealingError) -> Object {
        guard let service = make(try serviceTypeOverAnyConnection(), over: connection) else { throw Self.incapable }
        do throws(SealingError) {
            _ = try glib.checked { glib.initialize(service, cancellation.object, $0) }
            return service
        } catch {
            glib.unref(service)
            throw error
        }
    }

    private func make(_ type: UInt, over connection: Object) -> Object? {
        let texts: [(name: StaticString, value: String)] = [
            ("g-name", "org.freedesktop.secrets"), ("g-object-path", "/org/freedesktop/secrets"),
            ("g-interface-name", "org.freedesktop.Secret.Service"),
        ]
        let names: [StaticString] = texts.map(\.name) + ["g-connection"]
        // A `GValue` is a type and 16 bytes; zeros are an empty one.
        let size = 24
        let values = Object.allocate(byteCount: names.count * size, alignment: 8)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: names.count * size)
        defer {
            for index in names.indices { glib.unsetValue(values + index * size) }
            values.deallocate()
        }
        for (index, text) in texts.enumerated() {
            _ = glib.initValue(values + index * size, Self.stringType)
            glib.setString(values + index * size, text.value)
        }
        _ = glib.initValue(values + texts.count * size, Self.objectType)
        glib.setObject(values + texts.count * size, connection)

        let addresses = names.map { UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) as Optional }
        return glib.newObject(type, UInt32(names.count), addresses, values)
    }

    /// `SecretService` with the constructor of `GObject`: its own one insists on GLib's shared session bus.
    private func serviceTypeOverAnyConnection() throws(SealingError) -> UInt {
        let name = "TokenstoreSecretService"
        let type = Self.registration.withLock { _ in
            let registered = glib.typeNamed(name)
            return registered == 0 ? register(name) : registered
        }
        if type == 0 { throw Self.incapable }
        return type
    }

    private func register(_ name: String) -> UInt {
        // A `GTypeQuery` is type, name, class size and instance size.
        let query = Object.allocate(byteCount: 24, alignment: 8)
        defer { query.deallocate() }
        let parent = serviceType()
        glib.queryType(parent, query)
        // In a `GObjectClass` the constructor follows the type and the list of construct properties.
        guard let base = glib.classOf(Self.objectType) else { return 0 }
        let constructor = base.load(fromByteOffset: 16, as: UnsafeRawPointer?.self)
        let initClass: @convention(c) (Object, UnsafeRawPointer?) -> Void = { subclass, constructor in
            subclass.storeBytes(of: constructor, toByteOffset: 16, as: UnsafeRawPointer?.self)
        }
        // A `GTypeInfo`, of which the rest may stay zero.
        let info = Object.allocate(byteCount: 72, alignment: 8)
        info.initializeMemory(as: UInt8.self, repeating: 0, count: 72)
        defer { info.deallocate() }
        info.storeBytes(of: UInt16(query.load(fromByteOffset: 16, as: UInt32.self)), as: UInt16.self)
        info.storeBytes(of: initClass, toByteOffset: 24, as: (@convention(c) (Object, UnsafeRawPointer?) -> Void).self)
        info.storeBytes(of: constructor, toByteOffset: 40, as: UnsafeRawPointer?.self)
        info.storeBytes(
            of: UInt16(query.load(fromByteOffset: 20, as: UInt32.self)),
            toByteOffset: 48,
            as: UInt16.self
        )
        return glib.registerType(parent, name, info, 0)
    }
}
#endif
