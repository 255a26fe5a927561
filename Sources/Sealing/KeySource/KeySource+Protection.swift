#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KeySource {
    /// Who could read the tokens of the store at `database`, in plain words, as the modes of its files are now.
    package func protection(database: String) -> [(reader: String, verdict: String)] {
        var verdicts = verdicts(directory: PathParts(database).directory)
        // A user who may read the database needs no copy of it.
        if let mode = FileAccess.othersMode(of: database) {
            verdicts.otherUser = "\(verdicts.copy) The database \(database) is open to others, its mode is \(mode)."
        }
        return [
            ("someone with a copy of the database file", verdicts.copy),
            ("another user of this machine", verdicts.otherUser),
            ("a process of the same user", verdicts.sameUser),
            ("root", verdicts.root),
        ]
    }

    private typealias Verdicts = (copy: String, otherUser: String, sameUser: String, root: String)

    private func verdicts(directory: String) -> Verdicts {
        switch location {
        case .file(let path): Self.fileVerdicts(path ?? PathParts.join(directory, "key"), directory: directory)
        case .passphrase: Self.passphraseVerdicts
        case .secretService: Self.secretServiceVerdicts
        case .keychain: Self.keychainVerdicts
        case .credential(let name): Self.credentialVerdicts(name)
        case .environment: Self.environmentVerdicts
        }
    }

    private static func fileVerdicts(_ path: String, directory: String) -> Verdicts {
        let owner = (
            sameUser: "can. It may read the database and the key file, as tokenstore does.",
            root: "can. It may read every file."
        )
        if let mode = FileAccess.othersMode(of: path) {
            let remedy = "close it with 'chmod 600 \(path.shellWord)', and make a new key if it was read."
            return (
                "can, as a user of this machine. The key file \(path) is open to others, its mode is \(mode); \(remedy)",
                "can as soon as they have a copy of the database. The key file \(path) is open to them, its mode is "
                    + "\(mode); \(remedy)",
                owner.sameUser,
                owner.root
            )
        }
        let copy =
            if path.droppingPrefix(PathParts.join(directory, "")) != nil {
                "cannot, unless the copy includes the key file beside it. A backup of the whole directory does."
            } else {
                "cannot. The key is in \(path). Keep the two in different backups."
            }
        let otherUser = "cannot. The database and the key file are open to their owner alone."
        return (copy, otherUser, owner.sameUser, owner.root)
    }

    private static let passphraseVerdicts: Verdicts = (
        """
        can only by guessing the passphrase. Each guess costs about a quarter of a second and 128 MiB, which protects \
        a good passphrase and not a poor one.
        """,
        "cannot. The database is open to its owner alone, and the passphrase is in no file.",
        """
        can while tokenstore runs or where TOKENSTORE_PASSPHRASE is set, from memory or the environment. At other \
        times it has to guess the passphrase.
        """,
        "can while tokenstore runs or where TOKENSTORE_PASSPHRASE is set. At other times it has to guess the passphrase."
    )

    private static let secretServiceVerdicts: Verdicts = (
        "cannot. The key is in the keyring, which is not part of the copy.",
        "cannot. The database is open to its owner alone, and the keyring answers its owner alone.",
        "can while the keyring is unlocked, as it is after login. The keyring gives the key to every program of the user.",
        "can while the keyring is unlocked. A locked keyring is sealed under the password of its owner."
    )

    private static let keychainVerdicts: Verdicts = (
        "cannot. The key is in the keychain, which is not part of the copy, and does not leave the device.",
        "cannot. The database is open to its owner alone, and the keychain answers its owner alone.",
        "cannot, unless it is signed by the same team for the same access group. The keychain gives the key to no other.",
        "can while a program that has the key runs, from its memory."
    )

    private static func credentialVerdicts(_ name: String) -> Verdicts {
        let open = PathParts.isAbsolute(name) ? FileAccess.othersMode(of: name).map { (name, $0) } : nil
        let copy = open.map { "can, as a user who may read the credential \($0), its mode is \($1)." }
        let otherUser = open.map {
            "can as soon as they have a copy of the database, if they may read the credential \($0): its mode is \($1)."
        }
        return (
            copy ?? "cannot. The credential is not part of the copy.",
            otherUser
                ?? "cannot. The database is open to its owner alone, and the credential is closed to everyone else.",
            "can. It may read the database and the credential, as the service does.",
            "can. It may read every file, credentials included."
        )
    }

    private static let environmentVerdicts: Verdicts = (
        "cannot. The key is in the environment of the process, which is not part of the copy.",
        "cannot. The database and the environment of a process are open to their owner alone.",
        "can. It may read the database and the environment of running processes, and programs that these start inherit it.",
        "can. It may read every file and the environment of every process."
    )
}

/// Whom the modes of a file and of the directories above it let in.
private enum FileAccess {
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
