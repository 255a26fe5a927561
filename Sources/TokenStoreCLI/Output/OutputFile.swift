import Sealing
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that takes its name only when it is whole; every command writes its files through this.
///
/// It replaces a regular file only if a person said so, and never one of the store's own files.
final class OutputFile {
    private let output: BufferedOutput
    private let path: String
    private let draft: DraftFile
    private let store: StoreFiles?
    private let mayReplace: Bool
    private let signalMask = SignalMask()

    /// Whether a file has this name already.
    static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Opens a draft beside `path`, which only its owner may read.
    ///
    /// A file of that name, which may come to be while the draft is written, is replaced only where `mayReplace`.
    init(_ path: String, sparing store: StoreFiles?, replacing mayReplace: Bool) throws {
        try Self.check(path, sparing: store)
        self.path = path
        self.store = store
        self.mayReplace = mayReplace
        guard let draft = DraftFile(for: path) else { throw Self.failure("created", path) }
        self.draft = draft
        output = BufferedOutput(draft.descriptor, name: path)
    }

    /// Writes `bytes`, unless the program is to end: then nothing is left of them.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !signalMask.isPending else {
            throw CommandFailure(.interrupted, "interrupted, and \(path) is as it was", "try again")
        }
        try output.write(bytes)
    }

    /// Gives the draft its name.
    func commit() throws {
        try output.flush()
        try Self.check(path, sparing: store)
        guard draft.commit(replacing: mayReplace && Self.isTaken(path)) else { throw Self.failure("written", path) }
    }

    /// Refuses what must not be replaced by output.
    static func check(_ path: String, sparing store: StoreFiles?) throws {
        guard store?.includes(path) != true else {
            throw CommandFailure(
                .usage,
                "\(path) is a file of a token store, and output would destroy it",
                "name another file, or - for standard output"
            )
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let kind: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFLNK: kind = "a symbolic link"
        case S_IFDIR: kind = "a directory"
        default: kind = "not a regular file"
        }
        throw CommandFailure(
            .failure,
            "\(path) is \(kind), and secrets are written to regular files only",
            "name another file, or - for standard output"
        )
    }

    private static func failure(_ verb: String, _ path: String) -> CommandFailure {
        guard errno != DraftFile.exposure else {
            return CommandFailure(
                .failure,
                "others could read \(path), as its file system keeps no modes of files",
                "name a file on another file system, or - for standard output"
            )
        }
        guard errno != EEXIST else {
            let hint = "run it again, or name another file"
            return CommandFailure(.failure, "another program has made \(path) meanwhile, and it stays as it is", hint)
        }
        return .ofSystem("\(path) cannot be \(verb)", "check the directory, its permissions and its free space")
    }
}
