#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// libsecret and the libraries below it, loaded at first use.
///
/// So neither the build nor a machine without a desktop needs them.
struct DynamicLibrary {
    private let name: String
    private let handle: UnsafeMutableRawPointer

    init(_ name: String) throws(SealingError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .keyUnavailable(
                """
                \(name) is not installed, which the key source secret-service needs; run \
                'apt-get install libsecret-1-0', or choose another key source
                """
            )
        }
        self.name = name
        self.handle = handle
    }

    func address(_ symbol: String) throws(SealingError) -> UnsafeMutableRawPointer {
        if let address = dlsym(handle, symbol) { return address }
        throw .keyUnavailable("\(name) lacks \(symbol); install libsecret 0.20 or later")
    }

    /// The function `symbol`, whose type is the caller's to know.
    func function<Function>(_ symbol: String) throws(SealingError) -> Function {
        unsafeBitCast(try address(symbol), to: Function.self)
    }
}
#endif
