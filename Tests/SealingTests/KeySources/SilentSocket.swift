#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A socket to which a client can connect, and that never says a word.
final class SilentSocket: Sendable {
    struct Failure: Error {
        let number: Int32
    }

    let address: String
    private let descriptor: Int32

    init(_ path: String) throws {
        address = "unix:path=\(path)"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0, listen(descriptor, 8) == 0 else { throw Failure(number: errno) }
    }

    deinit { close(descriptor) }
}
#endif
