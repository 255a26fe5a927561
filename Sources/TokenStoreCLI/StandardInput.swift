#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a person types, or a document comes from.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }
}
