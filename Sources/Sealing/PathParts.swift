#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A path taken apart as the kernel does it, at the byte of a slash.
///
/// A slash with a combining mark behind it is one `Character`, which is not equal to a slash.
package struct PathParts: Hashable, Sendable {
    /// The path before the last slash; `.` without a slash, `/` for a file in the root directory.
    package let directory: String

    /// What follows the last slash.
    package let name: String

    package init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: Self.slash) else {
            (directory, name) = (".", path)
            return
        }
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
    }

    private static let slash = UInt8(ascii: "/")

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    package static func endsInSlash(_ path: String) -> Bool { path.utf8.last == slash }

    package static func hasSlash(_ path: String) -> Bool { path.utf8.contains(slash) }

    /// The path of `name` in `directory`.
    package static func join(_ directory: String, _ name: String) -> String {
        endsInSlash(directory) ? directory + name : directory + "/" + name
    }

    /// The path without symbolic links; nil if it leads nowhere.
    package static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path without symbolic links as far as it exists, and what is missing behind that.
    package static func partlyResolved(_ path: String) -> String {
        if let resolved = resolved(path) { return resolved }
        let parts = PathParts(path)
        guard parts.directory != path else { return path }
        return join(partlyResolved(parts.directory), parts.name)
    }
}

extension String {
    /// What follows `prefix`, byte by byte; nil if the text begins in another way.
    package func droppingPrefix(_ prefix: String) -> Substring? {
        utf8.starts(with: prefix.utf8) ? Substring(utf8.dropFirst(prefix.utf8.count)) : nil
    }
}
