import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Lets many processes begin at the same moment: a child waits until its standard input ends.
enum Gate {
    static func wait() {
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {}
    }

    /// The same for a child that lives on: the gate opens with a byte for each, and closes when all are done.
    static func waitForByte() {
        var byte: UInt8 = 0
        _ = read(0, &byte, 1)
    }

    /// Starts all `children`, lets them go at once, and waits for them.
    ///
    /// - Returns: how many did not end well.
    static func run(_ children: [ChildProcess]) throws -> Int {
        let gate = try Pipe()
        let running = try children.map { try $0.start(input: gate.reading) }
        gate.closeWriting()
        return try running.filter { try !$0.wait().isSuccess }.count
    }

    /// The same, but waits until each child has printed something first; times count from the gate.
    static func runWhenReady(_ children: [ChildProcess]) throws -> Crowd.Ended {
        let gate = try Pipe()
        let crowd = try Crowd(children, input: gate.reading)
        crowd.waitUntilReady()
        let start = Stopwatch.now()
        gate.closeWriting()
        return try crowd.wait(since: start)
    }

    /// The same for children that print something when they are done, and live on until all are.
    static func runUntilDone(_ children: [ChildProcess]) throws -> Crowd.Ended {
        let gate = try Pipe()
        let crowd = try Crowd(children, input: gate.reading)
        crowd.waitUntilReady()
        let start = Stopwatch.now()
        gate.send(Array(repeating: 1, count: children.count))
        return try crowd.waitUntilDone(since: start) { gate.closeWriting() }
    }
}

/// A pipe, neither end of which a child inherits unless it is given to it.
final class Pipe {
    let reading: Int32
    private(set) var writing: Int32

    init() throws {
        guard let pipe = PrivatePipe() else { throw BenchFailure("no pipe can be made, error \(errno)") }
        (reading, writing) = (pipe.reading, pipe.writing)
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(writing, $0.baseAddress, $0.count) } }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// What comes next, at most `count` bytes; empty at the end.
    func next(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, read(reading, buffer.baseAddress, count))
        }
    }

    /// Everything up to the end.
    func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while case let part = next(1 << 16), !part.isEmpty { bytes += part }
        return bytes
    }
}
