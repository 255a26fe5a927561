package import Foundation
import OAuth
import Synchronization
import TestSupport

/// A socket on loopback that answers with any bytes, whether they are HTTP or not.
package final class RawServer: Sendable {
    /// What happens after the bytes.
    package enum Ending: Sendable {
        case closes
        case hangs
        /// One byte more every few milliseconds.
        case drips
    }

    package let port: Int
    private let descriptor: Int32
    private let received = LockedValue<[String]>([])

    package var requests: [String] { received.withLock(\.self) }
    package var url: String { "http://127.0.0.1:\(port)/" }

    /// Answers every request alike.
    package convenience init(_ answer: String, _ ending: Ending = .closes) throws {
        try self.init(ending) { _ in answer }
    }

    /// Answers every request with the same bytes.
    package convenience init(_ answer: Data) throws {
        try self.init(.closes, data: { _ in answer })
    }

    package convenience init(_ ending: Ending = .closes, answering: @escaping @Sendable (String) -> String) throws {
        try self.init(ending, data: { Data(answering($0).utf8) })
    }

    private init(_ ending: Ending, data answering: @escaping @Sendable (String) -> Data) throws {
        (descriptor, port) = try LoopbackSocket.listener()
        Thread.detachNewThread { [self] in serve(ending, answering) }
    }

    /// Refuses connections from now on.
    ///
    /// The thread that accepts closes the descriptor: closed here, its number might be another server's by then.
    package func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve(_ ending: Ending, _ answering: @escaping @Sendable (String) -> Data) {
        while case let connection = LoopbackSocket.client(of: descriptor), connection >= 0 {
            Thread.detachNewThread { [self] in
                let request = Self.request(from: connection)
                received.withLock { $0.append(request) }
                _ = answering(request).withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                switch ending {
                case .closes: break
                case .hangs:
                    var byte: UInt8 = 0
                    _ = recv(connection, &byte, 1, 0)
                case .drips: while send(connection, "x", 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(5_000) }
                }
                // A program that another test started at the same moment may have the socket as well.
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
        close(descriptor)
    }

    /// Reads until the head and as much of the body as it announces are there.
    private static func request(from connection: Int32) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return text }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
            guard let head = text.firstRange(of: "\r\n\r\n") else { continue }
            let announced = text[..<head.lowerBound].lowercased().split(separator: "content-length: ").dropFirst().first
            let length = announced.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            if text[head.upperBound...].utf8.count >= length { return text }
        }
    }
}
