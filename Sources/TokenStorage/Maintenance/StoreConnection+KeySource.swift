import Database
import OAuth
import Sealing

extension StoreConnection {
    /// Wraps every data key under the key of another source; no row is rewritten.
    ///
    /// After a leak a new data key becomes current in the same commit.
    ///
    /// - Returns: what is left for a person to do.
    func changeSource(to source: KeySource, afterLeak: Bool, done: inout String?) throws -> String? {
        if let path = location.path { try StoreFiles(path).requireSeparateKeyFile(source) }
        if location.address != nil { try source.requireReachable(fromAnyMachine: location) }
        for _ in 0..<Self.keyAttempts {
            try write { try reloadKeysAtHand() }
            let old = try keySource()
            do {
                let oldKey = try source.create(keyContext([:])) { key, parameters, use in
                    try changeKey(to: (key, source, parameters), afterLeak: afterLeak, use)
                }
                done = "the key comes from '\(source)'"
                try removeOldPages()
                let notes = [
                    oldKey == keyRing?.keyEncryptionKey.id ? nil : adviceOnKeyFile(of: old, id: oldKey),
                    afterLeak ? Self.adviceOnLeak : nil,
                ]
                return notes.contains { $0 != nil } ? notes.compactMap(\.self).joined(separator: "; ") : nil
            } catch is MissingDataKeys {
                // They are made or fetched once the directory of the new key file is free: they may need it.
            }
        }
        throw TokenStoreError.restlessKeys(of: location)
    }

    /// Wraps the data keys that there are at the commit under another key.
    ///
    /// - Returns: the id of the one that they were under.
    /// - Throws: ``MissingDataKeys`` where a purge took them along, or another node has moved them.
    private func changeKey(
        to new: (key: KeyEncryptionKey, source: KeySource, parameters: [String: String]),
        afterLeak: Bool,
        _ use: KeyUse
    ) throws -> String {
        let (old, ring, header) = try writeWithKeysAtHand {
            try lockKeys()
            try reloadKeysAtHand()
            let ring = try keys()
            let old = ring.keyEncryptionKey.id
            guard !afterLeak || new.key.id != old else { throw try leakedKey(new.source) }
            for id in try connection.dataKeyIDs() {
                let wrapped = try ring.rewrap(id, under: new.key, from: connection)
                try connection.rewrapDataKey(id, wrapped, under: new.key.id)
            }
            if afterLeak { try addDataKey(under: new.key) }
            try setKeySource(new.source, new.parameters)
            try record(.rekey, outcome: Self.outcome(new.source, afterLeak: afterLeak))
            // What a server has against any of this, it has said when it answers.
            let changed = try KeyRing(new.key, storeID: self.header.storeID, from: connection)
            let header = try StoreHeader(connection, at: location)
            use.begin()
            return (old, changed, header)
        }
        (keyRing, self.header) = (ring, header)
        return old
    }

    static func outcome(_ source: KeySource, afterLeak: Bool) -> String {
        "key source \(source.kind.rawValue)" + (afterLeak ? ", after a leak" : "")
    }

    /// Whether a rekey after a leak has changed both keys, this source's being the new one, and was cut off then.
    ///
    /// Its first commit says so: where another rekey was cut off, the key may be the one that leaked.
    func isLeftUnfinished(movedTo source: KeySource) throws -> Bool {
        let recorded = try StoreHeader(connection, at: location).keySource
        guard try connection.dataKeyCount() > 1, try KeySource(parsing: recorded) == source else { return false }
        return try lastRekeyOutcome() == Self.outcome(source, afterLeak: true)
    }

    static let adviceOnLeak =
        "whoever has the leaked copy can still read what was in it: sign out and in again, so that the issuer ends the "
        + "old tokens"

    /// What becomes of the key file that the store has moved away from.
    private func adviceOnKeyFile(of source: KeySource, id: String) -> String? {
        guard let path = location.path, let file = source.filePath(directory: path.directory) else { return nil }
        var users = StoreFiles(path).stores(sealedUnder: id, besides: file)
        if options.removesCopies {
            let copies = StoreFiles(path, source: options.keySource).copies.filter(\.isRecognized)
            let removed = Set(copies.compactMap { FileStatus($0.path)?.identity })
            users.removeAll { FileStatus($0).map { removed.contains($0.identity) } ?? true }
        }
        guard users.isEmpty else {
            return "\(users.joined(separator: ", ")) still needs the old key file \(file), so keep it"
        }
        // Another store may name the same place, wherever that store is.
        let others = (source == .file ? "" : "stores elsewhere, ") + "old copies and backups"
        return
            "no store beside it needs the old key file \(file) any more, but \(others) may, so delete it "
            + "once you need none of those"
    }
}
