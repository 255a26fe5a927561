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
}
