#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Whether someone could read the tokens of a store.
package struct ReaderVerdict: Sendable {
    /// Who it is about.
    package enum Reader: String, Sendable, CaseIterable {
        case otherUser
        case databaseCopy
        case sameUser
        case root
    }

    package let reader: Reader
    package let canRead: Bool

    /// A clause without a capital and a full stop.
    package let reason: String

    /// Whether the reason is more than what anyone expects of such a reader.
    package let isRemarkable: Bool
}

extension KeySource {
    /// Who could read the tokens of the store at `database`, as the modes of its files are now; nil: it is on a server,
    /// where no file of this machine has its rows.
    ///
    /// `keys` are the ids of those that it is sealed under, where known.
    package func protection(database: String?, keys: Set<String> = []) -> [ReaderVerdict] {
        var verdicts = verdicts(directory: database.map { PathParts($0).directory }, keys)
        // A user who may read the database needs no copy of it.
        if let database, let mode = FileAccess.othersMode(of: database) {
            let opened = "the database \(database) is open to others, its mode is \(mode); \(verdicts.copy.reason)"
            verdicts.otherUser = Verdict(verdicts.copy.canRead, opened)
        }
        return [
            verdicts.otherUser.of(.otherUser), verdicts.copy.of(.databaseCopy), verdicts.sameUser.of(.sameUser),
            verdicts.root.of(.root),
        ]
    }

    private struct Verdict {
        let canRead: Bool
        let reason: String
        let isRemarkable: Bool

        init(_ canRead: Bool, _ reason: String, isRemarkable: Bool = true) {
            (self.canRead, self.reason, self.isRemarkable) = (canRead, reason, isRemarkable)
        }

        static func yes(_ reason: String) -> Verdict { Verdict(true, reason) }
        static func no(_ reason: String) -> Verdict { Verdict(false, reason) }

        /// The same, where no one expects anything else.
        var expected: Verdict { Verdict(canRead, reason, isRemarkable: false) }

        func of(_ reader: ReaderVerdict.Reader) -> ReaderVerdict {
            ReaderVerdict(reader: reader, canRead: canRead, reason: reason, isRemarkable: isRemarkable)
        }
    }

    private struct Verdicts {
        let copy: Verdict
        var otherUser: Verdict
        let sameUser: Verdict
        let root: Verdict
    }

    private func verdicts(directory: String?, _ keys: Set<String>) -> Verdicts {
        switch location {
        case .file(let path):
            Self.fileVerdicts(path ?? PathParts.join(directory ?? "", "key"), directory: directory, keys)
        case .passphrase: Self.passphraseVerdicts
        case .secretService: Self.secretServiceVerdicts
        case .keychain: Self.keychainVerdicts
        case .credential(let name): Self.credentialVerdicts(name)
        case .environment: Self.environmentVerdicts
        case .command(let path): Self.commandVerdicts(path)
        }
    }

    private static func fileVerdicts(_ path: String, directory: String?, _ keys: Set<String>) -> Verdicts {
        // Of a store on a server other machines have the key.
        if directory != nil, let fault = fault(ofKeyFile: path, keys) {
            let missing = Verdict.no("as long as the key file \(path) \(fault)")
            return Verdicts(copy: missing, otherUser: missing.expected, sameUser: missing, root: missing)
        }
        func verdicts(copy: Verdict, otherUser: Verdict) -> Verdicts {
            Verdicts(
                copy: copy,
                otherUser: otherUser,
                sameUser: .yes("it may read the database and the key file, as tokenstore does").expected,
                root: .yes("root may read every file").expected
            )
        }
        if let mode = FileAccess.othersMode(of: path) {
            // The store may name any file, which a person is not to change without a look at it.
            let isOwn = directory.map { PathParts(path).directory.utf8.elementsEqual($0.utf8) } ?? false
            let advice =
                isOwn
                ? "close it with 'chmod 600 \(path.shellWord)' and make a new key if it was read"
                : "find out whom this file belongs to, which the store names, and close it if it is your key"
            let open = "the key file \(path) is open to others, its mode is \(mode), so \(advice)"
            return verdicts(
                copy: .yes("as a user of this machine, for \(open)"),
                otherUser: .yes("with a copy of the database, for \(open)")
            )
        }
        let isBeside = directory.map { path.droppingPrefix(PathParts.join($0, "")) != nil } ?? false
        let copy =
            isBeside
            ? "a copy of the directory has the key" : "the key is in \(path), so keep the two in different backups"
        return verdicts(
            copy: .no(copy),
            otherUser: .no("the database and the key file are open to their owner alone").expected
        )
    }

    /// Why a key file opens nothing of a store; nil where it may.
    private static func fault(ofKeyFile path: String, _ keys: Set<String>) -> String? {
        if FileAccess.isAbsent(path) { return "is missing" }
        // One that is not read here may hold the key.
        guard !keys.isEmpty, let key = try? KeyFile(path: path).load(), !keys.contains(key.id) else { return nil }
        return "holds another key"
    }

    private static let passphraseVerdicts = Verdicts(
        copy: .no(
            "only by guessing the passphrase, where each guess costs about a quarter of a second and 128 MiB, which protects a "
                + "good passphrase and not a poor one"
        ),
        otherUser: .no("the database is open to its owner alone, and the passphrase is in no file").expected,
        sameUser: .yes(
            "while tokenstore runs or where TOKENSTORE_PASSPHRASE is set, else it has to guess the passphrase"
        ),
        root: .yes("while tokenstore runs or where TOKENSTORE_PASSPHRASE is set, else the passphrase has to be guessed")
    )

    private static let secretServiceVerdicts = Verdicts(
        copy: .no("the key is in the keyring, which is not part of the copy"),
        otherUser: .no("the database is open to its owner alone, and the keyring answers its owner alone").expected,
        sameUser: .yes("while the keyring is unlocked, as it is after login"),
        root: .yes("while the keyring is unlocked, and a locked one is sealed under the password of its owner")
    )

    private static let keychainVerdicts = Verdicts(
        copy: .no("the key is in the keychain, which is not part of the copy and does not leave the device"),
        otherUser: .no("the database is open to its owner alone, and the keychain answers its owner alone").expected,
        sameUser: .no("unless the program is signed by the same team for the same access group"),
        root: .yes("while a program that has the key runs, from its memory")
    )

    private static func credentialVerdicts(_ name: String) -> Verdicts {
        let open = PathParts.isAbsolute(name) ? FileAccess.othersMode(of: name) : nil
        let (sameUser, root) = (
            Verdict.yes("it may read the database and the credential, as the service does").expected,
            Verdict.yes("root may read every file, credentials included").expected
        )
        guard let mode = open else {
            let closed = "the database is open to its owner alone, and the credential is closed to everyone else"
            return Verdicts(
                copy: .no("the credential is not part of the copy"),
                otherUser: .no(closed).expected,
                sameUser: sameUser,
                root: root
            )
        }
        let opened = "the credential \(name) is open to others, its mode is \(mode)"
        return Verdicts(
            copy: .yes("as a user who may read the credential \(name), whose mode is \(mode)"),
            otherUser: .yes("with a copy of the database, for \(opened)"),
            sameUser: sameUser,
            root: root
        )
    }

    private static func commandVerdicts(_ path: String) -> Verdicts {
        Verdicts(
            copy: .no("the key is wrapped, and only what \(path) asks can unwrap it"),
            otherUser: .no("the database is open to its owner alone").expected,
            sameUser: .yes("it may run \(path), as tokenstore does"),
            root: .yes("root may run \(path) as its user, or read the key from the memory of a program that has it")
        )
    }

    private static let environmentVerdicts = Verdicts(
        copy: .no("the key is in the environment of the process, which is not part of the copy"),
        otherUser: .no("the database and the environment of a process are open to their owner alone").expected,
        sameUser: .yes("also from the environment of running processes, and programs that these start inherit it"),
        root: .yes("root may read every file and the environment of every process").expected
    )
}

/// Whom the modes of a file and of the directories above it let in.
private enum FileAccess {
    /// Whether there is nothing at the path; what may not be looked at is not absent.
    static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// The mode of a file, in octal digits, if users other than its owner may read it; nil if they may not.
    static func othersMode(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o044 != 0 else { return nil }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        var directory = PathParts(path).directory
        while directory != "/", directory != "." {
            guard stat(directory, &status) == 0, status.st_mode & 0o011 != 0 else { return nil }
            directory = PathParts(directory).directory
        }
        return mode
    }
}
