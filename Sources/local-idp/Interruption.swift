import Dispatch
import Foundation

/// The end that a person or a supervisor asks for.
enum Interruption {
    /// Returns at the first SIGINT or SIGTERM.
    static func wait() async {
        let (interruptions, continuation) = AsyncStream<Void>.makeStream()
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in interruptions { break }
        for source in sources { source.cancel() }
    }
}
