import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a store's key-encryption key comes from.
public struct KeySource: Hashable, Sendable {
    /// Where a key can come from, without the details.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case file
        case passphrase
        case secretService = "secret-service"
        case keychain
        case credential
        case environment
        case command
    }

    enum Location: Hashable {
        /// An absolute path, or nil for `key` beside the database.
        case file(path: String?)
        case passphrase(descriptor: Int32?)
        case secretService
        /// The keychain of Apple's systems, with the access group whose programs share the key.
        case keychain(accessGroup: String?)
        /// A name under `$CREDENTIALS_DIRECTORY`, or an absolute path.
        case credential(String)
        case environment
        /// The absolute path of a program.
        case command(String)
    }

    let location: Location

    /// The file `key` beside the database.
    public static let file = KeySource(location: .file(path: nil))

    /// scrypt over a passphrase from `TOKENSTORE_PASSPHRASE` or the terminal.
    public static let passphrase = KeySource(location: .passphrase(descriptor: nil))

    /// The desktop's keyring.
    public static let secretService = KeySource(location: .secretService)

    /// The keychain of Apple's systems; the key never leaves the device.
    public static let keychain = KeySource(location: .keychain(accessGroup: nil))

    /// The keychain of Apple's systems, for the programs of one access group, such as an app and its extensions.
    public static func keychain(accessGroup: String) -> KeySource {
        KeySource(location: .keychain(accessGroup: accessGroup))
    }

    /// Base64 in `TOKENSTORE_KEY`.
    public static let environment = KeySource(location: .environment)

    /// A key file; a relative path is relative to the current working directory.
    public static func file(_ path: String) -> KeySource {
        KeySource(location: .file(path: absolutePath(path)))
    }

    /// scrypt over a passphrase that is read from a file descriptor up to its end or a newline.
    public static func passphrase(descriptor: Int32) -> KeySource {
        KeySource(location: .passphrase(descriptor: descriptor))
    }

    /// A file under `$CREDENTIALS_DIRECTORY` (systemd credentials), or any file by its absolute path.
    ///
    /// - Throws: ``SealingError/Code/unusableSource`` for a name that leaves that directory.
    public static func credential(_ nameOrPath: String) throws(SealingError) -> KeySource {
        let isName = !PathParts.hasSlash(nameOrPath) && nameOrPath != "." && nameOrPath != ".."
        guard !nameOrPath.isEmpty, !nameOrPath.contains("\0"), isName || PathParts.isAbsolute(nameOrPath) else {
            throw .unusableSource(
                "'\(nameOrPath)' is not a credential name",
                .correct("give a name without '/', or an absolute path")
            )
        }
        return KeySource(location: .credential(nameOrPath))
    }

    /// A program, by its absolute path, that wraps and unwraps the key: `wrap` and `unwrap` are its argument, the key
    /// in base64 or what it made of it its input, and the other its output.
    ///
    /// So the key that wraps can stay in a key management service. A store that records a program runs it only for
    /// those who name it, or have its path in `TOKENSTORE_KEY_COMMAND`.
    public static func command(_ path: String) -> KeySource { KeySource(location: .command(path)) }

    /// Where the key comes from, without the details.
    public var kind: Kind {
        switch location {
        case .file: .file
        case .passphrase: .passphrase
        case .secretService: .secretService
        case .keychain: .keychain
        case .credential: .credential
        case .environment: .environment
        case .command: .command
        }
    }

    /// The file descriptor that a passphrase is read from, where one is named.
    package var passphraseDescriptor: Int32? {
        if case .passphrase(let descriptor) = location { descriptor } else { nil }
    }

    /// What a store records: where the passphrase came from this time is not part of it.
    package var recorded: KeySource {
        kind == .passphrase ? .passphrase : self
    }
}

extension KeySource: CustomStringConvertible {
    /// Reads `file`, `file:PATH`, `passphrase`, `passphrase:fd=N`, `secret-service`, `keychain`, `keychain:GROUP`,
    /// `credential:NAME`, `credential:/PATH`, `environment` or `command:/PATH`.
    ///
    /// - Throws: ``SealingError/Code/unusableSource``, which names these forms.
    public init(parsing text: String) throws(SealingError) {
        // By bytes: together with a combining mark behind it, a colon is another character.
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let argument = parts.count == 2 ? parts[1] : nil
        switch (Kind(rawValue: parts[0]), argument) {
        case (.file, nil): self = .file
        case (.file, let path?): self = try .file(parsing: path)
        case (.passphrase, nil): self = .passphrase
        case (.passphrase, let argument?): self = try .passphrase(parsing: argument, of: text)
        case (.secretService, nil): self = .secretService
        case (.keychain, nil): self = .keychain
        case (.keychain, let group?) where !group.isEmpty: self = .keychain(accessGroup: group)
        case (.credential, let name?): self = try .credential(name)
        case (.environment, nil): self = .environment
        case (.command, let path?): self = try .command(parsing: path)
        default: throw .unusableSource("'\(text)' is not a key source", Self.forms)
        }
    }

    /// The text from which `init(parsing:)` makes the same source.
    public var description: String {
        switch location {
        case .file(nil), .passphrase(nil), .secretService, .keychain(nil), .environment: kind.rawValue
        case .file(let path?): "file:\(path)"
        case .passphrase(let descriptor?): "passphrase:fd=\(descriptor)"
        case .keychain(let group?): "keychain:\(group)"
        case .credential(let name): "credential:\(name)"
        case .command(let path): "command:\(path)"
        }
    }

    private static let forms = Remedy.correct(
        """
        use file, file:PATH, passphrase, passphrase:fd=N, secret-service, keychain, keychain:GROUP, credential:NAME, \
        credential:/PATH, environment or command:/PATH
        """
    )

    private static func file(parsing path: String) throws(SealingError) -> KeySource {
        guard !path.isEmpty, !path.contains("\0"), !PathParts.endsInSlash(path) else {
            throw .unusableSource("'file:\(path)' names no file", forms)
        }
        // No shell expands a tilde after the colon, and a directory named "~" is never intended.
        guard path.utf8.first != UInt8(ascii: "~") else {
            throw .unusableSource(
                "'file:\(path)' starts with a tilde",
                .correct("write the path in full, or with $HOME")
            )
        }
        return .file(path)
    }

    private static func command(parsing path: String) throws(SealingError) -> KeySource {
        guard PathParts.isAbsolute(path), !path.contains("\0"), !PathParts.endsInSlash(path) else {
            throw .unusableSource("'command:\(path)' does not name a program by its absolute path", forms)
        }
        return .command(path)
    }

    private static func passphrase(parsing argument: String, of text: String) throws(SealingError) -> KeySource {
        guard argument.hasPrefix("fd="), let descriptor = Int32(argument.dropFirst(3)), descriptor >= 0 else {
            throw .unusableSource("'\(text)' names no file descriptor", forms)
        }
        return .passphrase(descriptor: descriptor)
    }

    /// The store outlives the working directory, so a relative path would later name another file.
    private static func absolutePath(_ path: String) -> String {
        guard !PathParts.isAbsolute(path), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return PathParts.join(String(cString: directory), path)
    }
}
