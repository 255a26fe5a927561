import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A descriptor that a script gives its answers by, one a line.
struct AnswerInput {
    let descriptor: Int32

    /// Throws unless the descriptor is open.
    func check(_ option: String) throws {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw CommandFailure(
                .usage,
                "\(option) names the descriptor \(descriptor), which is not open",
                "open it, as in \(option) 3 3<FILE"
            )
        }
    }

    /// The next line, nil at the end of the input.
    func next(_ interruption: Interruption) throws -> Secret? {
        try LineReader(descriptor: descriptor).line {
            if interruption.isInterrupted { throw CommandFailure(.cancelled, "interrupted", "try again") }
            interruption.letThrough()
        }
    }
}
