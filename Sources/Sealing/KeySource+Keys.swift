extension KeySource {
    /// The key that exists; never makes one.
    package func load(_ context: KeySourceContext) throws(SealingError) -> KeyEncryptionKey {
        switch place {
        case .file(let path): try keyFile(path, context).load()
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).load()
        case .secretService: try SecretServiceKey(context: context).load()
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
        switch place {
        case .file(let path): (try keyFile(path, context).create(), [:])
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).create()
        case .secretService: (try SecretServiceKey(context: context).create(), [:])
        case .credential, .environment: (try load(context), [:])
        }
    }

    /// Where the key file of a store is whose database is in `directory`; nil if its key is in no file of ours.
    package func filePath(directory: String) -> String? {
        guard case .file(let path) = place else { return nil }
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
