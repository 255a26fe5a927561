import CPostgreSQL
import SQL

/// A connection of its own that hears what is sent to a channel, and that knows how long the server has been silent.
///
/// A message is a hint: one that is sent while the connection is down is never heard.
package final class Listener {
    private let connection: Connection
    private let interval: Duration
    private let channel: String
    /// When the server last gave a sign of life.
    package private(set) var lastSign = ContinuousClock.now
    private var nextHeartbeat = ContinuousClock.now

    /// A message of another session.
    package struct Notification: Hashable, Sendable {
        package let payload: String
        /// The process of the server that sent it.
        package let serverProcess: Int32
    }

    /// Connects and listens to `channel`, a name of small letters, digits and `_`.
    ///
    /// The server is asked for a sign of life each `heartbeat`, and given `options.patience` for it.
    @available(*, noasync, message: "connecting blocks its thread")
    package init(
        to address: ServerAddress,
        channel: String,
        heartbeat: Duration = .seconds(1),
        options: Connection.Options = Connection.Options()
    ) throws {
        guard address.pooler == .none else {
            throw PostgreSQLError(.unsupported, "behind a transaction pooler no session can listen; use pooler=none")
        }
        let isName = channel.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isName, !channel.isEmpty, channel.utf8.count < 64 else {
            throw PostgreSQLError(.address, "a channel is a name of small letters, digits and _")
        }
        self.channel = channel
        interval = heartbeat
        connection = try Connection.judged(to: address, options: options)
        connection.pipeline.isListening = true
        try connection.execute("LISTEN \"\(channel)\"")
        lastSign = .now
        nextHeartbeat = lastSign + interval
    }

    /// The process of the server that serves this connection.
    package var serverProcess: Int32 { connection.serverProcess }

    package func close() { connection.close() }

    /// Waits up to `time` for messages and returns those that came; an error if the server has ended the connection or
    /// gives no sign of life.
    @available(*, noasync, message: "listening blocks its thread")
    package func wait(for time: Duration) throws -> [Notification] {
        let deadline = ContinuousClock.now + time
        while true {
            let heard = try received()
            if !heard.isEmpty { return heard }
            let now = ContinuousClock.now
            if now >= nextHeartbeat { try beat() }
            guard now < deadline else { return try received() }
            try listen(until: min(deadline, nextHeartbeat))
        }
    }

    private func listen(until deadline: ContinuousClock.Instant) throws {
        let pipeline = connection.pipeline
        let call = pipeline.library.call
        let handle = try pipeline.open()
        switch Socket.wait(call.pointee.PQsocket(handle), forWriting: false, until: deadline) {
        case .late: return
        case .failed: throw pipeline.lose()
        case .ready:
            guard connection.isAlive else { throw pipeline.lose() }
            lastSign = .now
        }
    }

    /// Runs `body` with the connection; what it asks is a sign of life as well.
    package func use<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let result = try body(connection)
        lastSign = .now
        nextHeartbeat = lastSign + interval
        return result
    }

    /// Asks the server for a sign of life, and waits for it.
    private func beat() throws {
        try connection.forEach("SELECT 1") { _ in }
        lastSign = .now
        nextHeartbeat = lastSign + interval
    }

    /// The messages that have arrived.
    private func received() throws -> [Notification] {
        let pipeline = connection.pipeline
        let call = pipeline.library.call
        let handle = try pipeline.open()
        var heard: [Notification] = []
        while let message = call.pointee.PQnotifies(handle) {
            defer { call.pointee.PQfreemem(message) }
            guard String(cString: message.pointee.relname) == channel else { continue }
            heard.append(
                Notification(payload: String(cString: message.pointee.extra), serverProcess: message.pointee.be_pid)
            )
        }
        return heard
    }
}

/// What a server sends without being asked.
extension Pipeline {
    /// Takes in what the server sent to an idle connection; false if that was the connection's end.
    func isAlive() -> Bool {
        guard let handle else { return false }
        let call = library.call
        while Socket.isReadable(call.pointee.PQsocket(handle)) {
            guard call.pointee.PQconsumeInput(handle) == 1 else { return false }
            // Parses what was read.
            _ = call.pointee.PQisBusy(handle)
            dropMessages()
        }
        return call.pointee.PQstatus(handle) == CONNECTION_OK
    }

    /// Frees what came to channels without a listener here: libpq keeps messages until they are fetched.
    func dropMessages() {
        guard !isListening, let handle else { return }
        let call = library.call
        while let message = call.pointee.PQnotifies(handle) { call.pointee.PQfreemem(message) }
    }
}
