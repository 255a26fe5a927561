import HTTPTransport
package import NIOCore
import NIOHTTP1
import NIOPosix

/// A listener on loopback that takes one answer from the browser
/// ([RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
package struct RedirectListener: Sendable {
    /// With the port that is listened on.
    let redirectURI: String
    private let channels: [any Channel]

    /// Listens where `uri` says; nil where the app is handed the answer instead.
    ///
    /// - Throws: ``SignInError/noListener(_:)`` if the port is taken.
    init?(_ uri: RedirectURI, _ mode: ResponseMode, _ reception: RedirectReception) async throws {
        guard let place = uri.loopback else { return nil }
        var channels: [any Channel] = []
        var port = place.port ?? 0
        for (index, address) in place.addresses.enumerated() {
            do {
                let channel = try await Self.bootstrap(place, mode, reception).bind(host: address, port: port).get()
                channels.append(channel)
                port = channel.localAddress?.port ?? port
            } catch {
                // A machine may be without the second family.
                guard index == 0 else { continue }
                let shown = place.port.map { "port \($0) of \(address)" } ?? address
                let reason = (error as? IOError)?.words ?? "\(error)"
                throw SignInError.noListener("\(shown) cannot be listened on (\(reason)); free it or use another")
            }
        }
        self.channels = channels
        redirectURI = place.text(port: port)
    }

    /// Frees the port; whoever is being answered still gets the answer.
    func stop() async {
        for channel in channels {
            do { try await channel.close() } catch { continue }  // closed already
        }
    }

    private static func bootstrap(
        _ place: RedirectURI.Loopback,
        _ mode: ResponseMode,
        _ reception: RedirectReception
    ) -> ServerBootstrap {
        ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try receive(on: channel, place.path, mode, reception) }
            }
    }

    /// Reads the browser's request on `channel`, of whose event loop the caller is.
    package static func receive(
        on channel: any Channel,
        _ path: String,
        _ mode: ResponseMode,
        _ reception: RedirectReception
    ) throws {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
        try channel.pipeline.syncOperations.addHandlers(
            IdleStateHandler(allTimeout: .seconds(10)),
            RedirectHandler(path: path, mode: mode, reception: reception)
        )
    }
}
