package import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension IOError {
    /// What the system says, without what the client adds to it.
    package var words: String {
        errnoCode == ECONNREFUSED ? "refused" : String(cString: strerror(errnoCode)).lowercased()
    }
}
