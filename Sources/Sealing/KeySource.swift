/// Where a store's key-encryption key comes from.
public struct KeySource: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case file
        case passphrase
        case secretService = "secret-service"
        case credential
        case environment
    }

    enum Place: Hashable {
        /// An absolute path, or nil for `key` beside the database.
        case file(path: String?)
        case passphrase(descriptor: Int32?)
        case secretService
        /// A name under `$CREDENTIALS_DIRECTORY`, or an absolute path.
        case credential(String)
        case environment
    }

    let place: Place

    /// The file `key` beside the database.
    public static let file = KeySource(place: .file(path: nil))

    /// scrypt over a passphrase from `TOKENSTORE_PASSPHRASE` or the terminal.
    public static let passphrase = KeySource(place: .passphrase(descriptor: nil))

    /// The desktop's keyring.
    public static let secretService = KeySource(place: .secretService)

    /// Base64 in `TOKENSTORE_KEY`.
    public static let environment = KeySource(place: .environment)

    /// A key file; a relative path starts at the working directory of now.
    public static func file(_ path: String) -> KeySource {
        KeySource(place: .file(path: absolutePath(path)))
    }

    /// scrypt over a passphrase that is read from a file descriptor up to its end or a newline.
    public static func passphrase(descriptor: Int32) -> KeySource {
        KeySource(place: .passphrase(descriptor: descriptor))
    }

    /// A file under `$CREDENTIALS_DIRECTORY` (systemd credentials), or any file by its absolute path.
    ///
    /// - Throws: ``SealingError/unusableSource(_:)`` for a name that leaves that directory.
    public static func credential(_ nameOrPath: String) throws(SealingError) -> KeySource {
        let isName = !PathParts.hasSlash(nameOrPath) && nameOrPath != "." && nameOrPath != ".."
        guard !nameOrPath.isEmpty, !nameOrPath.contains("\0"), isName || PathParts.isAbsolute(nameOrPath) else {
            throw .unusableSource(
                "'\(nameOrPath)' is no name of a credential; give a name without '/', or an absolute path"
            )
        }
        return KeySource(place: .credential(nameOrPath))
    }

    public var kind: Kind {
        switch place {
        case .file: .file
        case .passphrase: .passphrase
        case .secretService: .secretService
        case .credential: .credential
        case .environment: .environment
        }
    }

    /// What a store records: where the passphrase came from this time is not part of it.
    package var recorded: KeySource {
        kind == .passphrase ? .passphrase : self
    }
}
