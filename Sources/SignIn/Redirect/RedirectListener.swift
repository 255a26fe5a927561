import HTTPTransport
package import NIOCore
import NIOHTTP1
import NIOPosix
import OAuth

/// A listener on loopback that takes one answer from the browser
/// ([RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
package struct RedirectListener: Sendable {
    /// With the port that is listened on.
    let redirectURI: String
    private let channels: [any Channel]
    private let start: StartAddress

    /// The scheme, the number of this machine and the port.
    private let origin: String

    /// Listens where `uri` says; nil where the app is handed the answer instead.
    ///
    /// - Throws: ``SignInError/noListener(_:)`` if the port is taken.
    init?(_ uri: RedirectURI, _ mode: ResponseMode, _ reception: RedirectReception) async throws {
        guard let place = uri.loopback else { return nil }
        start = StartAddress()
        let routes = RedirectRoutes(path: place.path, mode: mode, reception: reception, start: start)
        let connections = OpenConnections()
        var channels: [any Channel] = []
        var port = place.port ?? 0
        for (index, address) in place.addresses.enumerated() {
            do {
                let channel = try await Self.bootstrap(routes, connections).bind(host: address, port: port).get()
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
        origin = "http://\(place.host == "localhost" ? "127.0.0.1" : place.host):\(port)"
    }

    /// An address of this machine that leads this user's browser to `page`, until the sign-in is over.
    func start(leadingTo page: String) -> String? {
        guard HTTPAddress(page) != nil else { return nil }
        start.lead(to: page)
        return origin + start.path
    }

    /// Frees the port; whoever is being answered still gets the answer.
    func stop() async {
        for channel in channels {
            do { try await channel.close() } catch { continue }  // closed already
        }
    }

    private static func bootstrap(_ routes: RedirectRoutes, _ connections: OpenConnections) -> ServerBootstrap {
        ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                connections.add(channel)
                return channel.eventLoop.makeCompletedFuture { try receive(on: channel, routes) }
            }
    }

    /// Reads the browser's request on `channel`, of whose event loop the caller is.
    package static func receive(on channel: any Channel, _ routes: RedirectRoutes) throws {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
        try channel.pipeline.syncOperations.addHandler(RedirectHandler(routes))
    }
}

/// The connections of a listener.
///
/// Beyond a number that no browser reaches a new one displaces the oldest, so that a flood neither fills this process
/// nor keeps the browser out.
private final class OpenConnections: Sendable {
    private static let limit = 64

    private let channels = Guarded<[any Channel]>([])

    func add(_ channel: any Channel) {
        let displaced = channels.withLock { channels in
            channels.append(channel)
            return channels.count > Self.limit ? channels.removeFirst() : nil
        }
        displaced?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { channels in channels.removeAll { $0 === channel } }
        }
    }
}
