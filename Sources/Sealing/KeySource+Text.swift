#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KeySource: CustomStringConvertible {
    /// Reads `file`, `file:PATH`, `passphrase`, `passphrase:fd=N`, `secret-service`, `credential:NAME`,
    /// `credential:/PATH` or `environment`.
    ///
    /// - Throws: ``SealingError/unusableSource(_:)``, which names these forms.
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
        case (.credential, let name?): self = try .credential(name)
        case (.environment, nil): self = .environment
        default: throw .unusableSource("'\(text)' is no key source; \(Self.forms)")
        }
    }

    /// The text from which `init(parsing:)` makes the same source.
    public var description: String {
        switch place {
        case .file(nil), .passphrase(nil), .secretService, .environment: kind.rawValue
        case .file(let path?): "file:\(path)"
        case .passphrase(let descriptor?): "passphrase:fd=\(descriptor)"
        case .credential(let name): "credential:\(name)"
        }
    }

    private static let forms = """
        use file, file:PATH, passphrase, passphrase:fd=N, secret-service, credential:NAME, credential:/PATH \
        or environment
        """

    private static func file(parsing path: String) throws(SealingError) -> KeySource {
        guard !path.isEmpty, !path.contains("\0"), !PathParts.endsInSlash(path) else {
            throw .unusableSource("'file:\(path)' names no file; \(forms)")
        }
        // No shell expands a tilde after the colon, and a directory named "~" is nobody's wish.
        guard path.utf8.first != UInt8(ascii: "~") else {
            throw .unusableSource("'file:\(path)' starts with a tilde; write the path in full, or with $HOME")
        }
        return .file(path)
    }

    private static func passphrase(parsing argument: String, of text: String) throws(SealingError) -> KeySource {
        guard argument.hasPrefix("fd="), let descriptor = Int32(argument.dropFirst(3)), descriptor >= 0 else {
            throw .unusableSource("'\(text)' names no file descriptor; \(forms)")
        }
        return .passphrase(descriptor: descriptor)
    }

    /// The store outlives the working directory, so that a relative path would come to mean another file.
    static func absolutePath(_ path: String) -> String {
        guard !PathParts.isAbsolute(path), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return PathParts.join(String(cString: directory), path)
    }
}
