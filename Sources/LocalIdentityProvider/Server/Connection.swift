import Hummingbird
import NIOCore

/// The connection a request came on, so that a fault can cut it.
struct Connection: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }
}
