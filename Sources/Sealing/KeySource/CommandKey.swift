import OAuth

/// A key that a program wraps and unwraps by a service that keeps the wrapping key to itself: a key management
/// service, Vault, a TPM.
///
/// The store records what `wrap` printed. `wrap` and `unwrap` get their input on standard input and print on standard
/// output, the key as base64 of 32 bytes. What they say on standard error is seen by the person who started us.
struct CommandKey {
    let path: String
    let context: KeySourceContext

    private static let parameter = "wrapped"

    /// No service makes more of a key, and so much fits into a pipe that is not read yet.
    static let longestText = 8_192

    func load() throws(SealingError) -> KeyEncryptionKey {
        // The author of the file that is opened would otherwise choose the program that runs.
        guard context.namedSource == .command(path) || context.environment["TOKENSTORE_KEY_COMMAND"] == path else {
            throw .keyUnavailable(
                "the store's key comes from the program \(path), which runs only where its user has named it",
                .provideKey("if you trust it, name it", or: "command:\(path)")
            )
        }
        guard let wrapped = context.parameters[Self.parameter], !wrapped.isEmpty, wrapped.utf8.count <= Self.longestText
        else {
            throw .keyMalformed(
                "the store has lost the key that \(path) has wrapped",
                Remedy(.restore, "restore the store from a copy")
            )
        }
        return KeyEncryptionKey(bytes: try unwrap(Secret(wrapped)))
    }

    /// A new key, with what the program made of it.
    func create() throws(SealingError) -> (key: KeyEncryptionKey, parameters: [String: String]) {
        let key = Secret.random(count: KeyEncryptionKey.byteCount)
        let text = KeyText.encode(key)
        let wrapped = try run("wrap", text).withUnsafeBytes { String(validating: $0.trimmed, as: UTF8.self) }
        guard let wrapped, !wrapped.isEmpty, wrapped == wrapped.filter({ !$0.isNewline && $0 != "\0" }) else {
            throw malformed("wrap did not print one line of text")
        }
        guard KeyText.decode(Secret(wrapped)) != key else { throw malformed("wrap printed the key as it was") }
        guard try unwrap(Secret(wrapped)) == key else { throw malformed("unwrap did not print what was wrapped") }
        return (KeyEncryptionKey(bytes: key), [Self.parameter: wrapped])
    }

    private func unwrap(_ wrapped: Secret) throws(SealingError) -> Secret {
        guard let key = KeyText.decode(try run("unwrap", wrapped)) else {
            throw malformed("unwrap did not print base64 of 32 bytes")
        }
        return key
    }

    /// Makes sure that the program is there, and that no one else can change it.
    func requireProgram() throws(SealingError) { try program.requireOwn() }

    private var program: HelperProgram {
        HelperProgram(
            path: path,
            environment: context.environment,
            patience: context.deadline,
            longestOutput: Self.longestText
        )
    }

    private func run(_ work: String, _ input: Secret) throws(SealingError) -> Secret {
        try requireProgram()
        return try program.run(work, input)
    }

    private func malformed(_ problem: String) -> SealingError {
        .keyMalformed("\(path) \(problem)", .correct("try the program by hand"))
    }
}

extension UnsafeRawBufferPointer {
    /// Without the white space around it.
    fileprivate var trimmed: UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return UnsafeRawBufferPointer(rebasing: self[..<startIndex])
        }
        return UnsafeRawBufferPointer(rebasing: self[start...end])
    }
}
