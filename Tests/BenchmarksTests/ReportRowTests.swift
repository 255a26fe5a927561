import Foundation
import TestSupport
import Testing

@testable import Benchmarks

struct ReportRowTests {
    @Test func `a figure meets its bar by its median`() {
        let trips = ReportRow("F2", "trips", unit: .count, value: Spread([2, 3, 9]), atMost: 3)
        #expect(trips.isMet == true)
        #expect(trips.limit == "≤ 3")
        #expect(!trips.isFailure)
        let slow = ReportRow("F7", "last", unit: .milliseconds, value: Spread([540, 551, 552]), atMost: 550)
        #expect(slow.isMet == false)
        #expect(slow.limit == "≤ 550 ms")
    }

    @Test func `only what went wrong is a failure, not what takes long`() {
        #expect(ReportRow("F9", "lost", failures: 1, of: 10).isFailure)
        #expect(!ReportRow("F9", "lost", failures: 0, of: 10).isFailure)
    }
}

struct DelayingProxyTests {
    /// Answers each message with as many bytes.
    private static func echo() throws -> Int {
        let (listener, port) = try LoopbackSocket.listener()
        Background.start {
            let client = LoopbackSocket.client(of: listener)
            while let bytes = LoopbackSocket.receive(client) { LoopbackSocket.deliver(bytes, to: client) }
            close(client)
            close(listener)
        }
        return port
    }

    @Test func `round trips are counted, and what is cut gets no answer`() throws {
        let proxy = try DelayingProxy(to: Self.echo(), roundTrip: .zero)
        defer { proxy.stop() }
        let client = try #require(LoopbackSocket.server(at: proxy.port))
        for _ in 0..<3 {
            LoopbackSocket.deliver([1, 2], to: client)
            #expect(LoopbackSocket.receive(client) == [1, 2])
        }
        #expect(proxy.roundTrips == 3)
        proxy.cut(after: 1, .after)
        LoopbackSocket.deliver([3], to: client)
        #expect(LoopbackSocket.receive(client) == [3])
        #expect(proxy.isArmed)
        LoopbackSocket.deliver([4], to: client)
        #expect(LoopbackSocket.receive(client) == nil)
        #expect(!proxy.isArmed)
    }

    @Test func `a round trip takes as long as the network`() throws {
        let proxy = try DelayingProxy(to: Self.echo(), roundTrip: .milliseconds(20))
        defer { proxy.stop() }
        let client = try #require(LoopbackSocket.server(at: proxy.port))
        let seconds = Stopwatch.seconds {
            LoopbackSocket.deliver([1], to: client)
            #expect(LoopbackSocket.receive(client) == [1])
        }
        #expect(seconds >= 0.02)
    }
}
