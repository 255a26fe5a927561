import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StorePath {
    /// Whether there is no store, so that opening one would create it.
    ///
    /// A log without its database is what is left of a store: opening it says so.
    var isVacant: Bool { Self.isAbsent(database) && Self.isAbsent(log) }

    private static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
}
