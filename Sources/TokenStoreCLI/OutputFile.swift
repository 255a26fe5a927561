#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that takes its name only when it is whole.
final class OutputFile {
    private let output: BufferedOutput
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private let interruption = Interruption()

    /// Opens a draft beside `path`, which only its owner may read.
    init(_ path: String) throws {
        try Self.checkTarget(path)
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        draft = "\(path[..<slash]).\(path[slash...]).\(UInt64.random(in: 0 ... .max)).new"
        self.path = path
        descriptor = systemOpen(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        output = BufferedOutput(descriptor, name: path)
        guard descriptor >= 0 else { throw failure("created") }
    }

    /// Writes `bytes`, unless the program is to end: then the draft goes first.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !interruption.isPending else {
            throw CommandFailure(.cancelled, "interrupted, and \(path) is as it was", "try again")
        }
        try output.write(bytes)
    }

    /// Gives the draft its name.
    func commit() throws {
        try output.flush()
        guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw failure("written") }
        try Self.checkTarget(path)
        guard rename(draft, path) == 0 else { throw failure("written") }
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) }
        let directory = systemOpen(slash.map { String(path[..<$0]) } ?? ".", O_RDONLY | O_DIRECTORY)
        guard directory >= 0 else { return }
        defer { close(directory) }
        // The content is safe; a file system that cannot sync a directory is no reason to call it lost.
        _ = fsync(directory)
    }

    private static func checkTarget(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let kind: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFLNK: kind = "a symbolic link"
        case S_IFDIR: kind = "a directory"
        default: kind = "no regular file"
        }
        throw CommandFailure(
            .failure,
            "\(path) is \(kind), and secrets are written to regular files only",
            "name another file, or - for standard output"
        )
    }

    private func failure(_ verb: String) -> CommandFailure {
        CommandFailure(
            .failure,
            "\(path) cannot be \(verb) (\(systemMessage()))",
            "check the directory, its permissions and its free space"
        )
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        // After a rename there is no draft any more.
        unlink(draft)
    }
}
