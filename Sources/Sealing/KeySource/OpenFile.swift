import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file or directory that is closed at the end of its life.
struct OpenFile: ~Copyable {
    let path: String
    private let descriptor: Int32

    /// Opens the file, or throws `absent` if there is none.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0, absent: SealingError) throws(SealingError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, mode)
        if descriptor >= 0 { return }
        switch errno {
        case ENOENT: throw absent
        case ELOOP:
            throw .keyInsecure("\(path) is a symbolic link", .changeKey("name the file itself", to: "file:PATH"))
        case let number: throw Self.failure("opened", path, number)
        }
    }

    deinit { close(descriptor) }

    func status() throws(SealingError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("examined", path, errno) }
        return status
    }

    /// Has the system write it to the disk; a file system that cannot do that for a directory goes without.
    func synchronize() { _ = fsync(descriptor) }

    /// The bytes up to the end of the file, nil if there are more than `limit`.
    func contents(limit: Int) throws(SealingError) -> Secret? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
        defer {
            wipe(buffer)
            buffer.deallocate()
        }
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = read(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("read", path, errno) }
            if count == 0 { break }
            filled += count
        }
        return filled > limit ? nil : Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }

    /// Waits for the lock, which the kernel takes back when the descriptor closes.
    ///
    /// - Throws: ``SealingError/Code/keyBusy`` after `timeout`.
    func lock(timeout: Duration) throws(SealingError) {
        let end = ContinuousClock.now + timeout
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw Self.failure("locked", path, errno) }
            guard ContinuousClock.now < end else {
                throw .keyBusy("another process holds \(path), where the key file is", .retryLater)
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...2_000_000))
            nanosleep(&pause, nil)
        }
    }

    static func failure(_ verb: String, _ path: String, _ number: Int32) -> SealingError {
        let reason = String(cString: strerror(number)).lowercased()
        return .keyUnavailable(
            "\(path) cannot be \(verb), \(reason)",
            Remedy(.checkPermissions, "mend that and try again")
        )
    }
}

extension String {
    /// One word for a POSIX shell: in single quotes, where every byte but NUL is literal.
    ///
    /// Bytes are compared: together with an accent behind it, a quote is another character, but not to a shell.
    package var shellQuoted: String {
        var quoted: [UInt8] = [Self.quote]
        for byte in utf8 {
            if byte == Self.quote { quoted += Array("'\\''".utf8) } else { quoted.append(byte) }
        }
        return String(decoding: quoted + [Self.quote], as: UTF8.self)
    }

    /// One word of a command that is shown to a person, who may paste it into a shell.
    ///
    /// It is as it was where no shell reads anything into it, else in quotes. What a terminal would obey is written in
    /// digits, as `$'\012'`, which bash, zsh and POSIX.1-2024 know.
    package var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.isPlain) { return self }
        var isShown = true
        forEachScalar { isShown = isShown && !$1 }
        return isShown ? shellQuoted : escapedForShell
    }

    private var escapedForShell: String {
        var escaped = "$'"
        for byte in utf8 {
            switch byte {
            case 0x20...0x7E where byte != Self.quote && byte != UInt8(ascii: "\\"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 8)
                escaped += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return escaped + "'"
    }

    private static let quote = UInt8(ascii: "'")

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: ","):
            true
        default: false
        }
    }
}

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
