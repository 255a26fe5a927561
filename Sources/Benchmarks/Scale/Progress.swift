#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

enum Progress {
    /// Says on a terminal how many accounts have been made.
    static func show(_ done: Int, of total: Int) {
        guard isatty(2) == 1 else { return }
        let text = "\r\(done) of \(total) accounts" + (done < total ? "" : "\n")
        _ = text.withCString { write(2, $0, strlen($0)) }
    }
}
