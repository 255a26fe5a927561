import Foundation
import Synchronization

/// A socket on loopback that answers whatever it is sent with the same bytes.
final class RawServer: Sendable {
    /// What happens after the bytes.
    enum Ending: Sendable {
        case closes
        case hangs
        /// One byte more every few milliseconds.
        case drips
    }

    let port: Int
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    var requests: [String] { received.withLock(\.self) }
    var url: String { "http://127.0.0.1:\(port)/" }

    init(_ answer: String, _ ending: Ending = .closes) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listening, bound) = (descriptor, length)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listening, address, bound) == 0 && listen(listening, 16) == 0
                    && getsockname(listening, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in serve(answer, ending) }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private func serve(_ answer: String, _ ending: Ending) {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            Thread.detachNewThread { [self] in
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(connection, &buffer, buffer.count, 0)
                received.withLock { $0.append(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)) }
                _ = Array(answer.utf8).withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                switch ending {
                case .closes: break
                case .hangs: _ = recv(connection, &buffer, buffer.count, 0)
                case .drips: while send(connection, "x", 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(5_000) }
                }
                close(connection)
            }
        }
    }
}
