import OAuth
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A loopback port without a listener, which the system gives to no other process that asks for a free one, and which
/// no other test gets.
package struct UnusedPort: Sendable {
    private static let given = LockedValue<Set<Int>>([])

    package let number: Int

    package init() throws {
        // Below what Linux and Darwin hand out by themselves.
        let numbers = (0..<100).lazy.map { _ in Int.random(in: 10_000..<32_000) }
        number = try Self.given.withLock { given in
            let number = numbers.first { !given.contains($0) && Self.isFree($0) }
            guard let number else { throw NoneLeft() }
            given.insert(number)
            return number
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let listener = socket(AF_INET, streamType, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) == 0 }
        }
    }

    #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    private static let streamType = SOCK_STREAM
    #endif

    private struct NoneLeft: Error {}
}
