import OAuth

/// A key as text in an environment variable.
struct EnvironmentKey {
    private static let variable = "TOKENSTORE_KEY"
    let environment: [String: String]

    func load() throws(SealingError) -> KeyEncryptionKey {
        guard let text = environment[Self.variable], !text.isEmpty else {
            throw .keyAbsent(
                "\(Self.variable) is not set; set it to base64 of 32 random bytes, such as 'openssl rand -base64 32' makes"
            )
        }
        guard let bytes = KeyText.decode(Secret(text)) else {
            throw .keyMalformed(
                "\(Self.variable) is not base64 of 32 bytes; set it to the key that was made for the store"
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }
}
