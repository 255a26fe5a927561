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
        case .credential(let name): try credential(name, context).load()
        case .environment: try EnvironmentKey(environment: context.environment).load(isNew: false)
        case .command(let path): try CommandKey(path: path, context: context).load()
        }
    }

    /// The key for a new store, or for one that moves to this source, with what the store must record to load it again.
    ///
    /// A key that is already there is used, not replaced. `credential` and `environment` must have one.
    package func create(
        _ context: KeySourceContext
    ) throws(SealingError) -> (key: KeyEncryptionKey, parameters: [String: String]) {
        switch location {
        case .file(let path): (try keyFile(path, context, isNew: true).create(), [:])
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).create()
        case .secretService: (try keyringKey(context), [:])
        case .keychain(let group): (try KeychainKey(accessGroup: group, context: context).create(), [:])
        case .credential(let name): (try credential(name, context, isNew: true).load(), [:])
        case .environment: (try EnvironmentKey(environment: context.environment).load(isNew: true), [:])
        case .command(let path): try CommandKey(path: path, context: context).create()
        }
    }

    /// Runs `body` with the key of ``create(_:)``, and takes a key file that was made for it away again if nothing was
    /// sealed under the key.
    ///
    /// `body` says so, by ``KeyUse/begin()``, before anything under the key can become lasting: where it is not known
    /// whether a commit happened, the key is kept. Meanwhile no other process gets the key for another store.
    package func create<Result>(
        _ context: KeySourceContext,
        _ body: (KeyEncryptionKey, [String: String], KeyUse) throws -> Result
    ) throws -> Result {
        let use = KeyUse()
        guard case .file(let path) = location else {
            let (key, parameters) = try create(context)
            return try body(key, parameters, use)
        }
        let (key, file) = try keyFile(path, context, isNew: true).make()
        defer { if !use.isBegun { file?.remove() } }
        return try body(key, [:], use)
    }

    /// A key that is yet to be made may come from another source, where the keyring cannot be used.
    private func keyringKey(_ context: KeySourceContext) throws(SealingError) -> KeyEncryptionKey {
        do {
            return try SecretServiceKey(context: context).create()
        } catch let error where error.code == .keyUnavailable || error.code == .keyLocked {
            let advice = error.remedy.map { "\($0.advice), or " } ?? ""
            let remedy = Remedy.provideKey("\(advice)choose another key source", or: "file")
            throw SealingError(error.code, error.problem, remedy)
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

    func keyFile(_ path: String?, _ context: KeySourceContext, isNew: Bool = false) -> KeyFile {
        let file = path ?? context.directory + "/key"
        return KeyFile(
            path: file,
            timeout: context.lockTimeout,
            isTrusted: isNew || isTrusted(file, context),
            isRecorded: context.recordedSource?.filePath(directory: context.directory) == file
        )
    }

    private func credential(_ name: String, _ context: KeySourceContext, isNew: Bool = false) -> CredentialFile {
        CredentialFile(
            name: name,
            environment: context.environment,
            isTrusted: isNew || !PathParts.isAbsolute(name) || isTrusted(name, context)
        )
    }

    /// Whether a path may stand in advice to change the file: the user gave it, or it is beside the database.
    ///
    /// What a store records is not sealed, and anyone who could write to it may have put any path there.
    private func isTrusted(_ path: String, _ context: KeySourceContext) -> Bool {
        context.namedSource == self || PathParts(path).directory.utf8.elementsEqual(context.directory.utf8)
    }

    func passphraseKey(_ descriptor: Int32?, _ context: KeySourceContext) -> PassphraseKey {
        PassphraseKey(passphrase: Passphrase(descriptor: descriptor, context: context), context: context)
    }
}

/// Whether anything may have been sealed under a new key, which then has to be kept.
package final class KeyUse {
    fileprivate private(set) var isBegun = false

    /// From now on the key is needed, whatever comes of the work.
    package func begin() { isBegun = true }
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

    /// What the user of the store says that its key comes from; nil where that is left to the store.
    package var namedSource: KeySource?

    /// Where the store says that its key comes from; nil of a new one.
    package var recordedSource: KeySource?

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

    /// The key, of a store that is new or of one that was sealed under it.
    func load(isNew: Bool) throws(SealingError) -> KeyEncryptionKey {
        let advice =
            isNew
            ? "set it to base64 of 32 random bytes, such as 'openssl rand -base64 32' makes"
            : "set it to the key that was made for the store"
        guard let text = environment[Self.variable], !text.isEmpty else {
            throw .keyAbsent("\(Self.variable) is not set", .provideKey(advice))
        }
        guard let bytes = KeyText.decode(Secret(text)) else {
            throw .keyMalformed("\(Self.variable) is not base64 of 32 bytes", .provideKey(advice))
        }
        return KeyEncryptionKey(bytes: bytes)
    }
}
