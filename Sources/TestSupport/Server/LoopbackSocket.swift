import Foundation

/// Sockets on this machine.
package enum LoopbackSocket {
    /// A socket that accepts connections, and its port.
    package static func listener() throws -> (Int32, Int) {
        let listener = make()
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | listen(listener, 128)
                    | getsockname(listener, $0, &length)
            }
        }
        guard outcome == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EADDRNOTAVAIL) }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A socket that accepts connections of the newer family, and its port; nil where the machine has no such address.
    package static func listenerOfIPv6() throws -> (Int32, Int)? {
        let listener = socket(AF_INET6, stream, 0)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        if isListening { return (listener, Int(UInt16(bigEndian: address.sin6_port))) }
        let problem = POSIXError.Code(rawValue: errno) ?? .EADDRNOTAVAIL
        if listener >= 0 { close(listener) }
        guard [.EADDRNOTAVAIL, .EAFNOSUPPORT, .EBADF].contains(problem) else { throw POSIXError(problem) }
        return nil
    }

    /// The next connection; negative when the listener is shut down.
    package static func client(of listener: Int32) -> Int32 {
        while true {
            let number = accept(listener, nil, nil)
            if number < 0, [EINTR, ECONNABORTED].contains(errno) { continue }
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            return undelayed(number)
        }
    }

    /// A connection to a port; nil if nothing listens there.
    package static func server(at port: Int) -> Int32? {
        let number = make()
        var address = loopback(UInt16(port))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return undelayed(number) }
        close(number)
        return nil
    }

    /// What comes next; nil at the end.
    package static func receive(_ number: Int32) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, filled in
            filled = max(0, read(number, buffer.baseAddress, buffer.count))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Sends all of it, or as much as the other side still takes.
    package static func deliver(_ bytes: [UInt8], to number: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(number, $0.baseAddress.map { $0 + sent }, bytes.count - sent, noSignal)
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private static func undelayed(_ number: Int32) -> Int32 {
        var yes: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return number
    }

    private static func make() -> Int32 {
        let number = socket(AF_INET, stream, 0)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return number
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static let noSignal: Int32 = 0
    #else
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}
