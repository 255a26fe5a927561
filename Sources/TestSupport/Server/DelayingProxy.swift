import Dispatch
import Foundation
import OAuth
import Synchronization

/// A way to a server on this machine that takes as long as a network, counts round trips, and can be cut.
package final class DelayingProxy: Sendable {
    /// What happens to the bytes that a client sends next.
    package enum Cut: Sendable {
        /// They never arrive.
        case before
        /// They arrive, and the answer to them does not.
        case after
        /// They arrive, and nobody waits for the answer.
        case meanwhile
    }

    package let port: Int
    private let listener: Int32
    private let target: LockedValue<Int>
    private let delay: Duration
    private let trips = LockedValue(0)
    private let sent = LockedValue(0)
    private let armed = LockedValue<ArmedCut?>(nil)
    private let connections = LockedValue<[Connection]>([])

    /// How often a client has sent something after it had heard from the server.
    package var roundTrips: Int { trips.withLock(\.self) }

    package init(to target: Int, roundTrip: Duration = .zero) throws {
        self.target = LockedValue(target)
        delay = roundTrip / 2
        (listener, port) = try LoopbackSocket.listener()
        Self.start { [self] in accept() }
    }

    /// Sends new connections to another server.
    package func lead(to port: Int) { target.withLock { $0 = port } }

    /// How many messages clients have sent.
    package var messages: Int { sent.withLock(\.self) }

    /// Lets some messages pass, and cuts the connection of the next one; later connections lead to `next`.
    ///
    /// What a client sends at once may arrive as one message or as several, as the machine's load has it.
    package func cut(after messages: Int = 0, _ cut: Cut, leadingTo next: Int? = nil) {
        armed.withLock { $0 = ArmedCut(cut: cut, left: messages, countsRoundTrips: false, next: next) }
    }

    /// Lets some round trips pass, and cuts the connection of the next one.
    ///
    /// A network that takes its time makes their number the same each time: nothing is answered while it is sent.
    package func cut(afterRoundTrips roundTrips: Int, _ cut: Cut) {
        armed.withLock { $0 = ArmedCut(cut: cut, left: roundTrips, countsRoundTrips: true, next: nil) }
    }

    private struct ArmedCut {
        let cut: Cut
        var left: Int
        let countsRoundTrips: Bool
        let next: Int?
    }

    /// Lets nothing more pass on the connections that there are, none of which ends; new ones are as before.
    package func silence() {
        for connection in connections.withLock(\.self) { connection.isSilent.withLock { $0 = true } }
    }

    /// Whether a cut is still to come.
    package var isArmed: Bool { armed.withLock { $0 != nil } }

    /// Ends all connections; no more are accepted.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections.withLock(\.self) { connection.end() }
        connections.withLock { $0 = [] }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "delaying-proxy").async(execute: body)
    }

    private func accept() {
        while case let client = LoopbackSocket.client(of: listener), client >= 0 {
            guard let server = LoopbackSocket.server(at: target.withLock(\.self)) else {
                close(client)
                continue
            }
            let connection = Connection(client: client, server: server)
            connections.withLock { $0.append(connection) }
            let requests = Line(of: connection, to: server, delay: delay)
            let answers = Line(of: connection, to: client, delay: delay) { connection.hasHeard.withLock { $0 = true } }
            Self.start { [self] in forwardRequests(connection, requests) }
            Self.start { Self.forwardAnswers(connection, answers) }
        }
        close(listener)
    }

    private func forwardRequests(_ connection: Connection, _ line: Line) {
        while let bytes = LoopbackSocket.receive(connection.client) {
            if connection.isSilent.withLock(\.self) { continue }
            sent.withLock { $0 += 1 }
            let isRoundTrip = connection.hasHeard.exchange(false)
            if isRoundTrip { trips.withLock { $0 += 1 } }
            let cut = nextCut(isRoundTrip: isRoundTrip)
            if cut == .before { break }
            if cut == .after { connection.swallowsAnswers.withLock { $0 = true } }
            line.put(bytes)
            if cut == .meanwhile { break }
        }
        connection.end()
        line.end()
    }

    private func nextCut(isRoundTrip: Bool) -> Cut? {
        armed.withLock { armed in
            guard var next = armed, isRoundTrip || !next.countsRoundTrips else { return nil }
            guard next.left == 0 else {
                next.left -= 1
                armed = next
                return nil
            }
            armed = nil
            if let port = next.next { lead(to: port) }
            return next.cut
        }
    }

    private static func forwardAnswers(_ connection: Connection, _ line: Line) {
        while let bytes = LoopbackSocket.receive(connection.server) {
            if connection.isSilent.withLock(\.self) { continue }
            // The first byte of an answer shows that the commit is made.
            guard !connection.swallowsAnswers.withLock(\.self) else { break }
            line.put(bytes)
        }
        connection.end()
        line.end()
    }

    /// A client's socket and the one to the server for it.
    private final class Connection: Sendable {
        let client: Int32
        let server: Int32
        let swallowsAnswers = LockedValue(false)
        let isSilent = LockedValue(false)
        let hasHeard = LockedValue(true)

        init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

        deinit {
            close(client)
            close(server)
        }

        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    /// Bytes on their way, each of which arrives some time after it was sent, whatever comes behind it.
    private final class Line: Sendable {
        private let waiting = LockedValue<[(due: ContinuousClock.Instant, bytes: [UInt8])]>([])
        private let hasMore = DispatchSemaphore(value: 0)
        private let delay: Duration
        private let target: Int32
        /// Keeps the sockets open.
        private let connection: Connection
        private let beforeDelivery: @Sendable () -> Void

        init(
            of connection: Connection,
            to target: Int32,
            delay: Duration,
            beforeDelivery: @escaping @Sendable () -> Void = {}
        ) {
            (self.connection, self.target, self.delay) = (connection, target, delay)
            self.beforeDelivery = beforeDelivery
            if delay > .zero { DelayingProxy.start { [self] in deliver() } }
        }

        func put(_ bytes: [UInt8]) {
            guard delay > .zero else { return deliver(bytes) }
            waiting.withLock { $0.append((.now + delay, bytes)) }
            hasMore.signal()
        }

        /// Nothing follows.
        func end() { if delay > .zero { hasMore.signal() } }

        private func deliver() {
            while true {
                hasMore.wait()
                guard let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                while case let left = ContinuousClock.now.duration(to: next.due), left > .zero {
                    // The last moments are not left to the scheduler.
                    if left > .microseconds(100) { usleep(UInt32((left - .microseconds(80)) / .microseconds(1))) }
                }
                deliver(next.bytes)
            }
        }

        private func deliver(_ bytes: [UInt8]) {
            beforeDelivery()
            LoopbackSocket.deliver(bytes, to: target)
        }
    }
}

extension LockedValue where Value == Bool {
    fileprivate func exchange(_ new: Bool) -> Bool {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}
