#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the process was started with, byte by byte.
///
/// The strings of the standard library have U+FFFD in the place of bytes that are not UTF-8, so that two names of files
/// may become one, and none of those that are there.
enum StartBytes {
    /// The name of the program and the arguments; empty where nothing says them.
    static let words: [[UInt8]] = {
        let words = (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0].map(bytes) }
        return words.isEmpty ? wordsOfKernel : words
    }()

    /// The arguments behind the name of the program.
    static var arguments: [[UInt8]] { Array(words.dropFirst()) }

    /// What the kernel says: the standard library finds no words where a library that was loaded before the program has
    /// put the environment, behind which it looks for them, into another place.
    private static var wordsOfKernel: [[UInt8]] {
        let file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        var count = read(file, &part, part.count)
        while count > 0 {
            bytes += part[..<count]
            count = read(file, &part, part.count)
        }
        // There is a zero behind every word.
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    }

    /// The environment, each variable as `NAME=value`.
    static var environment: [[UInt8]] {
        var settings: [[UInt8]] = []
        var next = environ
        while let text = next.pointee {
            settings.append(bytes(text))
            next += 1
        }
        return settings
    }

    /// The environment by names; of two variables of one name the first, as `getenv` has it.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        for setting in environment {
            let name = name(of: setting)
            guard name.count < setting.count else { continue }
            let key = String(decoding: name, as: UTF8.self)
            if variables[key] == nil { variables[key] = String(decoding: setting[(name.count + 1)...], as: UTF8.self) }
        }
        return variables
    }

    /// The bytes of `words`, the last arguments of a command.
    ///
    /// Where the command did not come from this process's own arguments, they are what the text says.
    static func lastArguments(_ words: [String]) -> [[UInt8]] {
        let last = Array(arguments.suffix(words.count))
        let areTheirs = last.map { String(decoding: $0, as: UTF8.self) } == words
        return areTheirs ? last : words.map { Array($0.utf8) }
    }

    /// The name of a variable of ``environment``.
    static func name(of setting: [UInt8]) -> ArraySlice<UInt8> { setting.prefix { $0 != UInt8(ascii: "=") } }

    /// The value of a variable of ``environment``; nil if it is not set.
    static func value(of name: String, in environment: [[UInt8]]) -> ArraySlice<UInt8>? {
        let start = Array("\(name)=".utf8)
        return environment.first { $0.starts(with: start) }?.dropFirst(start.count)
    }

    /// Refuses an argument, or a variable of our own, that is not text; what `exec` hands on is not ours to judge.
    static func requireText(isExec: Bool) throws {
        let terminator = Array("--".utf8)
        let words = isExec ? Array(arguments.prefix { $0 != terminator }) : arguments
        for (index, word) in words.enumerated() {
            try requireText(word, "argument \(index + 1), \(shown(word)),", "write it in UTF-8")
        }
        // By those of others the place of the store is found: it would be made in another directory.
        let ours = Array("TOKENSTORE_".utf8)
        let others = isPlaceGiven(words) ? [] : ["HOME", "XDG_STATE_HOME"].map { Array($0.utf8) }
        for setting in environment {
            let bytes = Array(Self.name(of: setting))
            guard setting.starts(with: ours) || others.contains(bytes) else { continue }
            // Its value may be a secret.
            let name = shown(bytes)
            try requireText(setting, "the environment variable \(name)", "set it to text in UTF-8")
        }
    }

    /// Whether the place of the store is named, or no store is asked for.
    private static func isPlaceGiven(_ words: [[UInt8]]) -> Bool {
        let options = ["--store", "--help", "-h", "--version"].map { Array($0.utf8) }
        return ["TOKENSTORE_PATH", "TOKENSTORE_DATABASE_URL"].contains {
            value(of: $0, in: environment)?.isEmpty == false
        } || words.contains { word in options.contains(word) || word.starts(with: Array("--store=".utf8)) }
    }

    private static func requireText(_ bytes: [UInt8], _ subject: String, _ advice: String) throws {
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        let hint = "\(advice), and rename a file whose name is not"
        throw CommandFailure(.usage, "\(subject) is not valid UTF-8", hint)
    }

    /// Bytes as a message has them: what is not text in hexadecimal, as `\xff`.
    static func shown(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let letters = bytes.map { (byte: UInt8) -> String in
            if byte >= 0x20, byte < 0x7F { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
        }
        return letters.joined()
    }

    private static func bytes(_ text: UnsafeMutablePointer<CChar>) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
