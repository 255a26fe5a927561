import OAuth
package import Sealing

extension TokenStore {
    /// Makes sure, as far as it can be known, that ``rekey(to:afterLeak:progress:)`` will have a key from `source`.
    ///
    /// It makes no key, and does not prompt.
    package static func requireUsable(_ source: KeySource, at location: StoreLocation, options: StoreOptions) throws {
        try TokenStoreError.translating(at: location) {
            if let path = location.path { try StoreFiles(path).requireSeparateKeyFile(source) }
            if location.address != nil { try source.requireReachable(fromAnyMachine: location) }
            let directory = location.path?.directory ?? ""
            try source.requireUsable(options.keyContext(directory: directory, storeID: NewStore.randomID(), [:]))
        }
    }
}

extension StoreReading {
    /// Makes sure, as far as it can be known without a prompt, that the key from `source` is not the one that leaked.
    package func requireOtherKey(from source: KeySource) throws {
        // Other sources prompt, or start a program.
        guard [.file, .environment, .credential].contains(source.kind) else { return }
        try read { session in
            guard let key = try? source.load(session.keyContext([:])), try key.id == session.keys().keyEncryptionKey.id,
                try !session.isLeftUnfinished(movedTo: source)
            else { return }
            throw try session.leakedKey(source)
        }
    }

    /// How many rows had been altered outside the program, so that a rekey would seal nothing of them anew.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` for those that would keep it from its end.
    package func rehearseResealing(progress: TokenStore.ProgressHandler? = nil) throws -> Int {
        try read { session in
            try session.readLong(of: connections) {
                let altered = try session.alteredRows(progress)
                try altered.requireNoneKept(in: session)
                return altered.givenUp
            }
        }
    }
}

extension StoreConnection {
    /// The key of a source is the one that the store has, and has leaked, unless a rekey after a leak has brought it.
    func leakedKey(_ source: KeySource) throws -> TokenStoreError {
        let isReplacement =
            try connection.dataKeyCount() == 1 && lastKeyChange() == Self.outcome(source, afterLeak: true)
        let advice = "if that leaked, name a source with another one"
        return .invalidArgument(
            "\(source) holds the key that the store has now"
                + (isReplacement ? ", with which the last change of the key replaced one that had leaked" : ""),
            .changeKey(isReplacement ? "nothing is left to do for that leak; \(advice)" : advice, to: "file:PATH")
        )
    }
}
