import Foundation
import LocalIdentityProvider
import NIOCore
import NIOPosix

/// A connection that sends exactly the bytes it is told to.
struct RawClient {
    /// Sends the pieces with pauses between them and returns all that comes back until the server closes.
    static func exchange(_ site: Site, _ pieces: [String], pause: Duration = .zero) async throws -> String {
        let port = Int(site.provider.baseURL.split(separator: ":").last ?? "") ?? 0
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            async let sent: Void = send(pieces, pause, outbound)
            var answer = ""
            do {
                for try await buffer in inbound {
                    answer += String(buffer: buffer)
                    if isWhole(answer) { break }
                }
            } catch let error as IOError {
                guard !answer.isEmpty else { throw error }  // reset behind the answer
            }
            try await sent
            return answer
        }
    }

    private static func send(
        _ pieces: [String],
        _ pause: Duration,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    )
        async throws
    {
        for piece in pieces {
            do { try await outbound.write(ByteBuffer(string: piece)) } catch { return }  // the server has had enough
            if pause > .zero { try await Task.sleep(for: pause) }
        }
    }

    private static func isWhole(_ answer: String) -> Bool {
        guard let end = answer.range(of: "\r\n\r\n"),
            let match = answer.lowercased().firstMatch(of: /content-length: ([0-9]+)/), let length = Int(match.1)
        else { return false }
        return answer[end.upperBound...].utf8.count >= length
    }
}
