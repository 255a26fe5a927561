extension KeySource {
    /// Who could read the tokens of a store whose database is in `directory`, in plain words.
    package func protection(directory: String) -> [(reader: String, verdict: String)] {
        let verdicts = verdicts(directory: directory)
        return [
            ("someone with a copy of the database file", verdicts.copy),
            ("another user of this machine", verdicts.otherUser),
            ("a process of the same user", verdicts.sameUser),
            ("root", verdicts.root),
        ]
    }

    private typealias Verdicts = (copy: String, otherUser: String, sameUser: String, root: String)

    private func verdicts(directory: String) -> Verdicts {
        switch place {
        case .file(let path): Self.fileVerdicts(path ?? directory + "/key", directory: directory)
        case .passphrase: Self.passphraseVerdicts
        case .secretService: Self.secretServiceVerdicts
        case .credential: Self.credentialVerdicts
        case .environment: Self.environmentVerdicts
        }
    }

    private static func fileVerdicts(_ path: String, directory: String) -> Verdicts {
        let copy =
            if path.hasPrefix(directory + "/") {
                "cannot, unless the copy includes the key file beside it. A backup of the whole directory does."
            } else {
                "cannot. The key is in \(path); keep the two in different backups."
            }
        return (
            copy,
            "cannot. The database and the key file are open to their owner alone.",
            "can. It may read the database and the key file, as tokenstore does.",
            "can. It may read every file."
        )
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

    private static let credentialVerdicts: Verdicts = (
        "cannot. The credential is not part of the copy.",
        "cannot. The database is open to its owner alone, and the credential is closed to everyone else.",
        "can. It may read the database and the credential, as the service does.",
        "can. It may read every file, credentials included."
    )

    private static let environmentVerdicts: Verdicts = (
        "cannot. The key is in the environment of the process, which is not part of the copy.",
        "cannot. The database and the environment of a process are open to their owner alone.",
        "can. It may read the database and the environment of running processes, and programs that these start inherit it.",
        "can. It may read every file and the environment of every process."
    )
}
