#if os(Linux)
/// The functions of libsecret that ``Keyring`` calls, and GLib below it.
///
/// `@unchecked Sendable`: it holds addresses of functions, which never change; the library stays loaded for good.
struct LibSecret: @unchecked Sendable {
    typealias Object = GLib.Object
    typealias Failure = GLib.Failure

    let glib: GLib
    let serviceType: @convention(c) () -> UInt
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
        "the keyring cannot be used; choose another key source, such as file"
    )
}
#endif
