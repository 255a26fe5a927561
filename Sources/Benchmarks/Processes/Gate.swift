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

    /// Starts all `children`, lets them go at once, and waits for them.
    ///
    /// - Returns: how many did not end well.
    static func run(_ children: [ChildProcess]) throws -> Int {
        let gate = try Pipe()
        let running = try children.map { try $0.start(input: gate.reading) }
        gate.closeWriting()
        return try running.filter { try !$0.wait().isSuccess }.count
    }

    /// The same, but waits until each child has printed something first.
    ///
    /// - Returns: how many did not end well, and the seconds from the gate to the last one's end.
    static func runWhenReady(_ children: [ChildProcess]) throws -> (failed: Int, seconds: Double) {
        let (gate, said) = (try Pipe(), try Pipe())
        let running = try children.map { try $0.start(input: gate.reading, output: said.writing) }
        said.closeWriting()
        var ready = 0
        while ready < children.count, case let bytes = said.next(children.count - ready), !bytes.isEmpty {
            ready += bytes.count
        }
        let start = Stopwatch.now()
        gate.closeWriting()
        let failed = try running.filter { try !$0.wait().isSuccess }.count
        return (failed, Stopwatch.now() - start)
    }
}
