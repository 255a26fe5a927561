#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The functions of libsecret, and of GLib below it, that ``Keyring`` calls.
///
/// They are looked up at first use, so that neither the build nor a machine without a desktop needs the library.
///
/// `@unchecked Sendable`: it holds addresses of functions, which never change once it is made; the library stays
/// loaded for good.
struct LibSecret: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    typealias Failure = UnsafeMutablePointer<Object?>

    let newCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object) -> Void
    let unref: @convention(c) (Object) -> Void
    let freeError: @convention(c) (Object) -> Void
    let freeList: @convention(c) (Object?, @convention(c) (Object) -> Void) -> Void
    let duplicate: @convention(c) (UnsafePointer<CChar>) -> Object?
    let newTable: @convention(c) (Object, Object, Object, Object) -> Object?
    let insert: @convention(c) (Object, Object?, Object?) -> Int32
    let unrefTable: @convention(c) (Object) -> Void
    let queryType: @convention(c) (UInt, Object) -> Void
    let typeNamed: @convention(c) (UnsafePointer<CChar>) -> UInt
    let registerType: @convention(c) (UInt, UnsafePointer<CChar>, Object, UInt32) -> UInt
    let classOf: @convention(c) (UInt) -> Object?
    let initValue: @convention(c) (Object, UInt) -> Object?
    let setString: @convention(c) (Object, UnsafePointer<CChar>) -> Void
    let setObject: @convention(c) (Object, Object?) -> Void
    let unsetValue: @convention(c) (Object) -> Void
    let newObject: @convention(c) (UInt, UInt32, UnsafePointer<UnsafePointer<CChar>?>, Object) -> Object?
    let initialize: @convention(c) (Object, Object?, Failure) -> Int32
    let connect: @convention(c) (UnsafePointer<CChar>, UInt32, Object?, Object?, Failure) -> Object?
    let close: @convention(c) (Object, Object?, Failure?) -> Int32
    let serviceType: @convention(c) () -> UInt
    let search: @convention(c) (Object, Object?, Object, Int32, Object?, Failure) -> Object?
    let isItemLocked: @convention(c) (Object) -> Int32
    let loadSecret: @convention(c) (Object, Object?, Failure) -> Int32
    let secret: @convention(c) (Object) -> Object?
    let collection: @convention(c) (Object, UnsafePointer<CChar>, Int32, Object?, Failure) -> Object?
    let isCollectionLocked: @convention(c) (Object) -> Int32
    let createItem:
        @convention(c) (
            Object, Object?, Object, UnsafePointer<CChar>, Object, Int32, Object?, Failure
        ) -> Object?
    let newSecret: @convention(c) (UnsafeRawPointer?, Int, UnsafePointer<CChar>) -> Object?
    let bytes: @convention(c) (Object, UnsafeMutablePointer<UInt>) -> UnsafeRawPointer?
    let unrefSecret: @convention(c) (Object) -> Void
    let free: Object
    let hash: Object
    let equal: Object

    /// Loads the library `name`.
    init(_ name: String) throws(SealingError) {
        // The layouts of GLib's types are written down for 64-bit machines only.
        guard MemoryLayout<Int>.size == 8 else { throw Self.incapable }
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .keyUnavailable(
                """
                \(name) is not installed, which the key source secret-service needs; run \
                'apt-get install libsecret-1-0', or choose another key source
                """
            )
        }
        func address(_ symbol: String) throws(SealingError) -> Object {
            if let address = dlsym(library, symbol) { return address }
            throw .keyUnavailable("\(name) lacks \(symbol); install libsecret 0.20 or later")
        }
        func function<Function>(_ symbol: String, _: Function.Type = Function.self) throws(SealingError) -> Function {
            unsafeBitCast(try address(symbol), to: Function.self)
        }
        newCancellable = try function("g_cancellable_new")
        cancel = try function("g_cancellable_cancel")
        unref = try function("g_object_unref")
        freeError = try function("g_error_free")
        freeList = try function("g_list_free_full")
        duplicate = try function("g_strdup")
        newTable = try function("g_hash_table_new_full")
        insert = try function("g_hash_table_insert")
        unrefTable = try function("g_hash_table_unref")
        queryType = try function("g_type_query")
        typeNamed = try function("g_type_from_name")
        registerType = try function("g_type_register_static")
        classOf = try function("g_type_class_ref")
        initValue = try function("g_value_init")
        setString = try function("g_value_set_string")
        setObject = try function("g_value_set_object")
        unsetValue = try function("g_value_unset")
        newObject = try function("g_object_new_with_properties")
        initialize = try function("g_initable_init")
        connect = try function("g_dbus_connection_new_for_address_sync")
        close = try function("g_dbus_connection_close_sync")
        serviceType = try function("secret_service_get_type")
        search = try function("secret_service_search_sync")
        isItemLocked = try function("secret_item_get_locked")
        loadSecret = try function("secret_item_load_secret_sync")
        secret = try function("secret_item_get_secret")
        collection = try function("secret_collection_for_alias_sync")
        isCollectionLocked = try function("secret_collection_get_locked")
        createItem = try function("secret_item_create_sync")
        newSecret = try function("secret_value_new")
        bytes = try function("secret_value_get")
        unrefSecret = try function("secret_value_unref")
        free = try address("g_free")
        hash = try address("g_str_hash")
        equal = try address("g_str_equal")
    }

    static let incapable = SealingError.keyUnavailable(
        "the keyring cannot be used; choose another key source, such as file"
    )

    /// Runs `call`, and throws what it reports.
    func checked<Result>(_ call: (Failure) -> Result) throws(SealingError) -> Result {
        var error: Object?
        let result = call(&error)
        guard let error else { return result }
        defer { freeError(error) }
        // A `GError` is two 32-bit numbers, then the text.
        let text = error.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
        throw .keyUnavailable(
            "the keyring does not answer, \(text ?? "no reason given"); start one, or choose another key source"
        )
    }
}
#endif
