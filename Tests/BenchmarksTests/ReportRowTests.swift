import Foundation
import TestSupport
import Testing

@testable import Benchmarks

struct ReportRowTests {
    @Test func `a figure meets its bar by its median`() {
        let trips = ReportRow("F2", "trips", unit: .count, value: Spread([2, 3, 9]), limit: .value(3))
        #expect(trips.isMet == true)
        #expect(trips.limitText == "≤ 3")
        #expect(!trips.isFailure)
        let slow = ReportRow("F7", "last", unit: .milliseconds, value: Spread([540, 551, 552]), limit: .value(550))
        #expect(slow.isMet == false)
        #expect(slow.limitText == "≤ 550 ms")
    }

    @Test func `a row with two bars has to meet both`() {
        func row(_ milliseconds: Double, ratio: Double) -> ReportRow {
            ReportRow(
                "P5",
                "list",
                unit: .milliseconds,
                value: Spread(milliseconds),
                ratio: Spread(ratio),
                limit: Limit(value: 10, ratio: 8)
            )
        }
        #expect(row(10, ratio: 8).isMet == true)
        #expect(row(11, ratio: 8).isMet == false)
        #expect(row(10, ratio: 8.1).isMet == false)
        #expect(row(10, ratio: 8).limitText == "≤ 10 ms, ≤ 8 ×")
    }

    @Test func `a bar may be a least ratio, or left to the reader`() {
        func row(_ ratio: Double, _ limit: Limit?) -> ReportRow {
            ReportRow("F6", "writers", unit: .count, value: Spread(1), ratio: Spread(ratio), limit: limit)
        }
        #expect(row(0.81, Limit(ratio: 0.8, isLeast: true)).isMet == true)
        #expect(row(0.79, Limit(ratio: 0.8, isLeast: true)).isMet == false)
        #expect(row(0.79, Limit(ratio: 0.8, isLeast: true)).limitText == "≥ 0.8 ×")
        #expect(row(1, .flat).isMet == nil)
        #expect(row(1, .flat).limitText == "flat")
        #expect(row(1, nil).limitText.isEmpty)
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

struct CrowdTests {
    private func shell(_ script: String) -> ChildProcess { ChildProcess("/bin/sh", ["-c", script]) }

    @Test func `each process of a crowd has its own end`() throws {
        let gate = try Benchmarks.Pipe()
        let crowd = try Crowd([shell("echo; read line; exit 3"), shell("echo")], input: gate.reading)
        crowd.waitUntilReady()
        gate.closeWriting()
        let ended = try crowd.wait(since: Stopwatch.now() - 1_000)
        #expect(ended.failed == 1)
        #expect(ended.seconds.count == 2)
        #expect(ended.seconds.allSatisfy { $0 >= 1_000 })
        #expect(ended.last == ended.seconds.max())
    }
}
