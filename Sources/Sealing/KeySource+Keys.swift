extension KeySource {
    /// The key that exists; never makes one.
    package func load(_ context: KeySourceContext) throws(SealingError) -> KeyEncryptionKey {
        switch place {
        case .file(let path): try keyFile(path, context).load()
        case .passphrase: throw notYet
        case .secretService: throw notYet
        case .credential: throw notYet
        case .environment: throw notYet
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
        case .passphrase: throw notYet
        case .secretService: throw notYet
        case .credential, .environment: (try load(context), [:])
        }
    }

    private func keyFile(_ path: String?, _ context: KeySourceContext) -> KeyFile {
        KeyFile(path: path ?? context.directory + "/key")
    }

    private var notYet: SealingError {
        .keyUnavailable("key source \(kind.rawValue) is not built yet; use file")
    }
}
