#if os(Linux)
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The functions of GLib that ``Keyring`` calls.
///
/// `@unchecked Sendable`: it holds addresses of functions, which never change; the library stays loaded for good.
struct GLib: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    typealias Failure = UnsafeMutablePointer<Object?>

    let newCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object) -> Void
    let unref: @convention(c) (Object) -> Void
    private let freeError: @convention(c) (Object) -> Void
    let freeList: @convention(c) (Object?, @convention(c) (Object) -> Void) -> Void
    private let duplicate: @convention(c) (UnsafePointer<CChar>) -> Object?
    private let newTable: @convention(c) (Object, Object, Object, Object) -> Object?
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
    let free: Object
    let hash: Object
    let equal: Object

    init(_ library: DynamicLibrary) throws(SealingError) {
        newCancellable = try library.function("g_cancellable_new")
        cancel = try library.function("g_cancellable_cancel")
        unref = try library.function("g_object_unref")
        freeError = try library.function("g_error_free")
        freeList = try library.function("g_list_free_full")
        duplicate = try library.function("g_strdup")
        newTable = try library.function("g_hash_table_new_full")
        insert = try library.function("g_hash_table_insert")
        unrefTable = try library.function("g_hash_table_unref")
        queryType = try library.function("g_type_query")
        typeNamed = try library.function("g_type_from_name")
        registerType = try library.function("g_type_register_static")
        classOf = try library.function("g_type_class_ref")
        initValue = try library.function("g_value_init")
        setString = try library.function("g_value_set_string")
        setObject = try library.function("g_value_set_object")
        unsetValue = try library.function("g_value_unset")
        newObject = try library.function("g_object_new_with_properties")
        initialize = try library.function("g_initable_init")
        connect = try library.function("g_dbus_connection_new_for_address_sync")
        close = try library.function("g_dbus_connection_close_sync")
        free = try library.address("g_free")
        hash = try library.address("g_str_hash")
        equal = try library.address("g_str_equal")
    }

    /// A `GHashTable` of texts.
    func table(_ texts: [String: String]) throws(SealingError) -> Object {
        guard let table = newTable(hash, equal, free, free) else { throw LibSecret.incapable }
        for (name, value) in texts { _ = insert(table, duplicate(name), duplicate(value)) }
        return table
    }

    /// Runs `call`, and throws what it reports.
    func checked<Result>(_ call: (Failure) -> Result) throws(SealingError) -> Result {
        var error: Object?
        let result = call(&error)
        guard let error else { return result }
        defer { freeError(error) }
        // A `GError` is two 32-bit numbers, then the text.
        let text = error.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
        throw .keyUnavailable(
            "the keyring does not answer, \(text ?? "no reason given")",
            .provideKey("start one")
        )
    }
}

/// libsecret and the libraries below it, loaded at first use.
///
/// So neither the build nor a machine without a desktop needs them.
struct DynamicLibrary {
    private let name: String
    private let handle: UnsafeMutableRawPointer

    init(_ name: String) throws(SealingError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .keyUnavailable(
                "\(name) is not installed, which the key source secret-service needs",
                Remedy(.install, "run 'apt-get install libsecret-1-0'")
            )
        }
        self.name = name
        self.handle = handle
    }

    func address(_ symbol: String) throws(SealingError) -> UnsafeMutableRawPointer {
        if let address = dlsym(handle, symbol) { return address }
        throw .keyUnavailable("\(name) lacks \(symbol)", Remedy(.install, "install libsecret 0.20 or later"))
    }

    /// The function `symbol`, whose type is the caller's to know.
    func function<Function>(_ symbol: String) throws(SealingError) -> Function {
        unsafeBitCast(try address(symbol), to: Function.self)
    }
}
#endif
