import OAuth
import SQLite

/// Writes a store as an MSAL unified cache, keyed like MSAL Python keys it: the only form both sorted and complete.
final class MSALCacheExporter {
    private let session: StoreSession
    private let progress: ((Progress) -> Void)?
    private let write: (UnsafeRawBufferPointer) throws -> Void
    private var buffer: [UInt8] = []
    private var bucket: String?
    private var isFirstBucket = true
    /// The keys in the bucket, byte by byte: texts that look alike are several keys to who reads them.
    private var keys: Set<[UInt8]> = []
    private var done = 0

    init(
        _ session: StoreSession,
        progress: ((Progress) -> Void)?,
        write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.session = session
        self.progress = progress
        self.write = write
    }

    func run() throws {
        // The rows of tokens name their account by its id, which the proof of the account vouches for.
        try session.verifyAccounts()
        buffer.append(contentsOf: "{".utf8)
        var foreign = try ForeignBuckets(session)
        for bucket in MSALBucket.allCases {
            try session.forEachEntity(of: bucket) { keys, entity in try add(entity, keys, to: bucket.rawValue) }
            for entry in foreign.remove(bucket.rawValue) {
                try add(entry.value, [entry.key ?? ""], to: bucket.rawValue)
            }
            try endBucket()
        }
        for name in foreign.names {
            let entries = foreign.remove(name)
            for entry in entries {
                guard let key = entry.key else { continue }
                let isMetadata = name == StoreSession.accountMetadataBucket
                try add(isMetadata ? session.currentAccountMetadata(entry.value) : entry.value, [key], to: name)
            }
            // An earlier import may have brought the bucket as one value, which its entries take the place of.
            if bucket == nil, let whole = entries.first { addWhole(whole.value, as: name) }
            try endBucket()
        }
        buffer.append(contentsOf: "\n}\n".utf8)
        try flush()
    }

    /// Adds an entry under the first of `candidates` that is free, else under the first of them with a number.
    private func add(_ entity: JSON, _ candidates: [String], to name: String) throws {
        if bucket == nil { beginBucket(name) } else { buffer.append(UInt8(ascii: ",")) }
        let numbered = (2...).lazy.map { "\(candidates[0])-\($0)" }
        let key = candidates.first(where: take) ?? numbered.first(where: take) ?? ""
        buffer.append(contentsOf: "\n    ".utf8)
        JSON.write(key, to: &buffer)
        buffer.append(contentsOf: ": ".utf8)
        entity.write(to: &buffer)
        done += 1
        if buffer.count > 1 << 16 { try flush() }
    }

    /// Whether `key` was free; it is taken now.
    private func take(_ key: String) -> Bool { keys.insert(Array(key.utf8)).inserted }

    private func addWhole(_ value: JSON, as name: String) {
        separateBuckets()
        JSON.write(name, to: &buffer)
        buffer.append(contentsOf: ": ".utf8)
        value.write(to: &buffer)
    }

    private func beginBucket(_ name: String) {
        separateBuckets()
        JSON.write(name, to: &buffer)
        buffer.append(contentsOf: ": {".utf8)
        bucket = name
        keys = []
    }

    private func separateBuckets() {
        buffer.append(contentsOf: (isFirstBucket ? "\n  " : ",\n  ").utf8)
        isFirstBucket = false
    }

    private func endBucket() throws {
        guard bucket != nil else { return }
        buffer.append(contentsOf: "\n  }".utf8)
        bucket = nil
    }

    private func flush() throws {
        try buffer.withUnsafeBytes { try write($0) }
        buffer.withUnsafeMutableBytes { wipe($0) }
        buffer.removeAll(keepingCapacity: true)
        progress?(Progress(done: done, total: nil, unit: "entries"))
    }
}

/// Kept entries by bucket, in the order of their first appearance.
private struct ForeignBuckets {
    private(set) var names: [String] = []
    private var entries: [String: [ForeignEntry]] = [:]

    init(_ session: StoreSession) throws {
        try session.forEachForeignEntry { _, entry in
            if entries[entry.bucket] == nil { names.append(entry.bucket) }
            entries[entry.bucket, default: []].append(entry)
        }
    }

    mutating func remove(_ name: String) -> [ForeignEntry] {
        names.removeAll { $0 == name }
        return entries.removeValue(forKey: name) ?? []
    }
}
