import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Remedy {
    /// What to do about a file that the store alone names.
    fileprivate static let unsureFile = Remedy(
        .checkSource,
        "the store names this file, so find out whom it belongs to, and name the key file that you know"
    )
}

/// A file of 32 random bytes that its owner alone can read.
struct KeyFile {
    let path: String

    /// How long to wait for another process that makes it.
    var timeout: Duration = .seconds(30)

    /// Whether advice may be to change the file; else the store alone names it, and it may be any file.
    var isTrusted = true

    /// Whether the store keeps its key here, so that a copy of the key belongs here; else it may be any file.
    var isRecorded = false

    func load() throws(SealingError) -> KeyEncryptionKey {
        let absent = SealingError.keyAbsent(
            "the key file \(path) is missing",
            .changeKey("restore it from a copy, or name its new place", to: "file:PATH")
        )
        // Without O_NONBLOCK a FIFO in the file's place would hang.
        let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, absent: absent)
        try check(file.status())
        guard let bytes = try file.contents(limit: KeyEncryptionKey.byteCount),
            bytes.count == KeyEncryptionKey.byteCount
        else { throw notAKey }
        return KeyEncryptionKey(bytes: bytes)
    }

    private var notAKey: SealingError {
        let remedy: Remedy =
            if !isTrusted {
                .unsureFile
            } else if isRecorded {
                Remedy(.restore, "restore the key file from a copy")
            } else {
                .changeKey("name the key file", to: "file:PATH")
            }
        return .keyMalformed("\(path) is not a key, it does not hold 32 bytes", remedy)
    }

    /// The key of a new file, or of the valid one that is there.
    ///
    /// The name appears with the whole key behind it, on disk, or not at all. All who create it at once get one key.
    func create() throws(SealingError) -> KeyEncryptionKey { try make().key }

    /// The same, with the file if this call has made it.
    func make() throws(SealingError) -> (key: KeyEncryptionKey, file: MadeKeyFile?) {
        let parent = PathParts(path).directory
        let absent = SealingError.keyAbsent("the directory \(parent) is missing", .createDirectory(parent))
        let directory = try OpenFile(parent, O_RDONLY | O_DIRECTORY, absent: absent)
        // Of all who find no file one makes it; the others then find it.
        try directory.lock(timeout: timeout)
        do {
            return (try load(), nil)
        } catch let error where error.code == .keyAbsent {
            let bytes = Secret.random(count: KeyEncryptionKey.byteCount)
            try write(bytes)
            return (KeyEncryptionKey(bytes: bytes), MadeKeyFile(path, in: directory))
        }
    }

    /// A new file that has no name yet.
    func draft() throws(SealingError) -> DraftFile {
        if let draft = DraftFile(for: path) { return draft }
        guard errno == DraftFile.exposure else { throw OpenFile.failure("created", path, errno) }
        throw .keyInsecure(
            "others could use the key file \(path), as its file system keeps no modes of files",
            .changeKey("name a file on another file system", to: "file:PATH")
        )
    }

    private func write(_ bytes: Secret) throws(SealingError) {
        let draft = try draft()
        guard bytes.withUnsafeBytes({ draft.append($0) }), draft.commit(replacing: false) else {
            throw OpenFile.failure("written", path, errno)
        }
    }

    private func check(_ status: stat) throws(SealingError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .keyInsecure("\(path) is not a regular file", .changeKey("name the key file", to: "file:PATH"))
        }
        guard let fault = fault(status) else { return }
        // No advice to change another program's file, which others may need.
        throw status.st_size == KeyEncryptionKey.byteCount ? fault : notAKey
    }

    /// Why others may use the file, or replace it.
    private func fault(_ status: stat) -> SealingError? {
        if status.st_uid != geteuid() {
            return .keyInsecure(
                "the key file \(path) belongs to user \(status.st_uid)",
                isTrusted ? .takeOwnership(of: path, user: geteuid()) : .unsureFile
            )
        }
        if status.st_mode & 0o077 != 0 {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            return .keyInsecure(
                "others may use the key file \(path), its mode is \(mode)",
                isTrusted ? .restrictAccess(to: path, mode: "600") : .unsureFile
            )
        }
        if status.st_nlink != 1 {
            return .keyInsecure(
                "the key file \(path) has \(status.st_nlink) names",
                isTrusted ? Self.removal(of: path) : .unsureFile
            )
        }
        return nil
    }

    private static func removal(of path: String) -> Remedy {
        Remedy(.removeFile, "find the others with 'find / -xdev -samefile \(path.shellWord)' and remove them")
    }
}

/// A key file that this process has made.
///
/// As long as the object lives, no other process gets a key for a new store from the directory.
final class MadeKeyFile {
    private let path: String
    private let directory: OpenFile
    private let identity: (dev_t, ino_t)?

    init(_ path: String, in directory: consuming OpenFile) {
        self.path = path
        self.directory = directory
        identity = Self.identity(of: path)
    }

    /// Takes the file away again, if the name is still that of the same file.
    ///
    /// Why that may fail is not told: what the key was for has failed before.
    func remove() {
        guard let identity, let found = Self.identity(of: path), found == identity, unlink(path) == 0 else { return }
        directory.synchronize()
    }

    private static func identity(of path: String) -> (dev_t, ino_t)? {
        var status = stat()
        return lstat(path, &status) == 0 ? (status.st_dev, status.st_ino) : nil
    }
}

/// A key in a file that a service manager provides: 32 bytes, or their text.
struct CredentialFile {
    /// A name under `$CREDENTIALS_DIRECTORY`, or an absolute path.
    let name: String
    let environment: [String: String]

    /// Whether advice may be to change the file; else the store alone names it, and it may be any file.
    var isTrusted = true

    func load() throws(SealingError) -> KeyEncryptionKey {
        let path = try path
        let absent = SealingError.keyAbsent(
            "the credential \(path) is missing",
            .provideKey("provide it with LoadCredential= in the unit, or as a file")
        )
        // Links are followed: container platforms provide secrets as links. Without O_NONBLOCK a FIFO would hang.
        let file = try OpenFile(path, O_RDONLY | O_NONBLOCK, absent: absent)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .keyInsecure(
                "the credential \(path) is not a regular file",
                .changeKey("name another file", to: "credential:/PATH")
            )
        }
        // Looked at before the mode: there is no advice to change another program's file, which others may need.
        guard let contents = try file.contents(limit: 1024),
            let bytes = contents.count == KeyEncryptionKey.byteCount ? contents : KeyText.decode(contents)
        else {
            throw .keyMalformed(
                "the credential \(path) is not a key",
                isTrusted
                    ? .provideKey("it must be 32 bytes, or base64 or hexadecimal text of 32 bytes") : .unsureFile
            )
        }
        // Root may own it and a group may read it: that is how systemd hands credentials to a service.
        guard status.st_mode & 0o027 == 0 else {
            let isForEveryone = status.st_mode & 0o007 != 0
            throw .keyInsecure(
                "\(isForEveryone ? "everyone may use" : "a group may change") the credential \(path)",
                isTrusted ? .restrictAccess(to: path, mode: isForEveryone ? "o-rwx" : "g-w") : .unsureFile
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }

    private var path: String {
        get throws(SealingError) {
            if PathParts.isAbsolute(name) { return name }
            guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
                throw .keyUnavailable(
                    "CREDENTIALS_DIRECTORY is not set, so credentials are not available",
                    .provideKey(
                        "run as a systemd service with LoadCredential=\(name):PATH, or name the file itself",
                        or: "credential:/PATH"
                    )
                )
            }
            return directory + "/" + name
        }
    }
}
