import Foundation

/// A server of another version, of which no more can be had than that and that it may be written to.
package final class OldServer: Sendable {
    package let port: Int
    private let listener: Int32

    /// Starts it; `version` is what it says of itself.
    package init(version: String) throws {
        (listener, port) = try LoopbackSocket.listener()
        let settings = [("server_version", version), ("client_encoding", "UTF8"), ("server_encoding", "UTF8")]
        let welcome =
            Self.message("R", [0, 0, 0, 0])
            + settings.flatMap { Self.message("S", Array("\($0)\0\($1)\0".utf8)) }
            + Self.message("K", [0, 0, 0, 1, 0, 0, 0, 1]) + Self.ready
        let listener = listener
        Thread.detachNewThread {
            while case let client = LoopbackSocket.client(of: listener), client >= 0 {
                while let question = LoopbackSocket.receive(client), let answer = Self.answer(to: question, welcome) {
                    LoopbackSocket.deliver(answer, to: client)
                }
                close(client)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func answer(to question: [UInt8], _ welcome: [UInt8]) -> [UInt8]? {
        switch question.first {
        // Eight bytes ask for encryption, which is declined.
        case 0: question.count == 8 ? Array("N".utf8) : welcome
        // Libraries ask a server older than 14 so whether it may be written to.
        case UInt8(ascii: "Q"): writable
        default: nil
        }
    }

    private static let ready = message("Z", Array("I".utf8))

    private static let writable: [UInt8] = {
        let column: [UInt8] = [0, 1] + Array("transaction_read_only\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 25]
        let row: [UInt8] = [0, 1, 0, 0, 0, 3] + Array("off".utf8)
        return message("T", column + [255, 255, 255, 255, 255, 255, 0, 0]) + message("D", row)
            + message("C", Array("SHOW\0".utf8)) + ready
    }()

    private static func message(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let length = UInt32(body.count + 4).bigEndian
        return Array(type.utf8) + withUnsafeBytes(of: length) { Array($0) } + body
    }
}
