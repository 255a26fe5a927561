package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension KeySource {
    /// The key that exists; never makes one.
    package func load(_ context: KeySourceContext) throws(SealingError) -> KeyEncryptionKey {
        switch location {
        case .file(let path): try keyFile(path, context).load()
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).load()
        case .secretService: try SecretServiceKey(context: context).load()
        case .keychain(let group): try KeychainKey(accessGroup: group, context: context).load()
        case .credential(let name): try CredentialFile(name: name, environment: context.environment).load()
        case .environment: try EnvironmentKey(environment: context.environment).load()
        }
    }

    /// The key for a new store, or for one that moves to this source, with what the store must record to load it again.
    ///
    /// A key that is already there is used, not replaced. `credential` and `environment` must have one.
    package func create(
        _ context: KeySourceContext
    ) throws(SealingError) -> (key: KeyEncryptionKey, parameters: [String: String]) {
        switch location {
        case .file(let path): (try keyFile(path, context).create(), [:])
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).create()
        case .secretService: (try SecretServiceKey(context: context).create(), [:])
        case .keychain(let group): (try KeychainKey(accessGroup: group, context: context).create(), [:])
        case .credential, .environment: (try load(context), [:])
        }
    }

    /// Where the key file of a store is whose database is in `directory`; nil if its key is in no file of ours.
    package func filePath(directory: String) -> String? {
        guard case .file(let path) = location else { return nil }
        return path ?? directory + "/key"
    }

    /// The id of the key in that file; nil if no key can be read from it.
    package func fileKeyID(directory: String) -> String? {
        filePath(directory: directory).flatMap { try? KeyFile(path: $0).load().id }
    }

    private func keyFile(_ path: String?, _ context: KeySourceContext) -> KeyFile {
        KeyFile(path: path ?? context.directory + "/key", timeout: context.lockTimeout)
    }

    private func passphraseKey(_ descriptor: Int32?, _ context: KeySourceContext) -> PassphraseKey {
        PassphraseKey(passphrase: Passphrase(descriptor: descriptor, context: context), context: context)
    }
}

/// What a key source needs to know about the store and the process.
package struct KeySourceContext: Sendable {
    /// Of the database; the key file's default place.
    package var directory: String

    /// 16 bytes, under which a keyring keeps the key.
    package var storeID: [UInt8]

    package var environment: [String: String]

    /// What ``KeySource/create(_:)`` returned, as recorded in the store.
    package var parameters: [String: String]

    /// Asks on the terminal, twice if `confirm`; nil if prompting is not allowed.
    package var askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)?

    /// For sources that can hang.
    package var deadline: Duration

    /// How long to wait for another process that makes the same key.
    package var lockTimeout = Duration.seconds(30)

    /// For new passphrases; a recorded one keeps its own.
    package var scryptCost = ScryptCost.standard

    /// The file name that `secret-service` loads at first use.
    package var secretServiceLibrary = "libsecret-1.so.0"

    package init(
        directory: String,
        storeID: [UInt8],
        environment: [String: String]? = nil,
        parameters: [String: String] = [:],
        askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)? = nil,
        deadline: Duration = .seconds(5)
    ) {
        self.directory = directory
        self.storeID = storeID
        self.environment = environment ?? ProcessInfo.processInfo.environment
        self.parameters = parameters
        self.askPassphrase = askPassphrase
        self.deadline = deadline
    }
}

/// A key as text in an environment variable.
private struct EnvironmentKey {
    private static let variable = "TOKENSTORE_KEY"
    let environment: [String: String]

    func load() throws(SealingError) -> KeyEncryptionKey {
        guard let text = environment[Self.variable], !text.isEmpty else {
            throw .keyAbsent(
                "\(Self.variable) is not set",
                .provideKey("set it to base64 of 32 random bytes, such as 'openssl rand -base64 32' makes")
            )
        }
        guard let bytes = KeyText.decode(Secret(text)) else {
            throw .keyMalformed(
                "\(Self.variable) is not base64 of 32 bytes",
                .provideKey("set it to the key that was made for the store")
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }
}
