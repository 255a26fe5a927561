import Database
import OAuth

/// Writes a store as an MSAL unified cache, keyed like MSAL Python keys it: the only form both sorted and complete.
final class MSALCacheExporter {
    private let session: StoreConnection
    private let write: (UnsafeRawBufferPointer) throws -> Void
    private var buffer: [UInt8] = []
    private var bucket: String?
    private var isFirstBucket = true
    /// The keys in the bucket, byte by byte: texts that look alike are several keys to who reads them.
    private var keys: Set<[UInt8]> = []
    /// The number that the next entry gets whose keys are taken, by the first of them: many may have the same ones.
    private var numbers: [[UInt8]: Int] = [:]
    private let entries: RowProgress

    init(
        _ session: StoreConnection,
        progress: TokenStore.ProgressHandler?,
        write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        self.session = session
        let tables: [SealedTable] = [
            .tenantProfile, .accessToken, .refreshToken, .idToken, .appMetadata, .foreignEntry,
        ]
        entries = RowProgress(
            progress,
            total: try progress.flatMap { _ in try session.rowCount(tables) },
            unit: "entries"
        )
        self.write = write
    }

    func run() throws {
        // The rows of tokens name their account by its id, which the proof of the account vouches for.
        try session.verifyAccounts()
        buffer.append(contentsOf: "{".utf8)
        var unrecognized = try UnrecognizedBuckets(session)
        let (hosts, issuers) = (try MSALHosts(session), try NamedIssuers(session))
        for bucket in MSALBucket.allCases {
            let name = JSONValue.string(bucket.rawValue).serialized
            try session.forEachEntity(of: bucket) { keys, entity, account in
                let (keys, entity) = hosts.naming(keys, issuers.naming(account, in: entity))
                try add(keys.map { JSONValue.string($0).serialized }, to: name) { entity.write(to: &$0) }
            }
            try add(unrecognized.remove(name), to: name)
        }
        if isFirstBucket, !unrecognized.names.isEmpty {
            // An import takes no document for a cache that has none of its buckets.
            beginBucket(JSONValue.string(MSALBucket.accessToken.rawValue).serialized)
            try endBucket()
        }
        for name in unrecognized.names { try add(unrecognized.remove(name), to: name) }
        buffer.append(contentsOf: "\n}\n".utf8)
        try flush()
        try entries.end()
    }

    /// Adds the kept entries of a bucket, and ends it.
    private func add(_ entries: [UnrecognizedEntry], to name: String) throws {
        for entry in entries where entry.key != nil {
            let isMetadata = entry.bucket == StoreConnection.accountMetadataBucket
            let value = try isMetadata ? session.currentAccountMetadata(entry.value) : entry.value
            try add([entry.path.keyJSON], to: name) { Self.write(value, entry.raw, to: &$0) }
        }
        // A document may have had the bucket as one value; the entries of other documents replace it.
        if bucket == nil, let whole = entries.first(where: { $0.key == nil }) {
            separateBuckets()
            buffer.append(contentsOf: (name + ": ").utf8)
            Self.write(whole.value, whole.raw, to: &buffer)
        }
        try endBucket()
    }

    private static func write(_ value: JSONValue, _ raw: String?, to bytes: inout [UInt8]) {
        if let raw { bytes.append(contentsOf: raw.utf8) } else { value.write(to: &bytes) }
    }

    /// Adds an entry under the first of `candidates` that is free, else under the first of them with a number; names
    /// are JSON.
    private func add(_ candidates: [String], to name: String, _ write: (inout [UInt8]) -> Void) throws {
        if bucket == nil { beginBucket(name) } else { buffer.append(UInt8(ascii: ",")) }
        let key = candidates.first(where: take) ?? takeNumbered(candidates[0])
        buffer.append(contentsOf: "\n    \(key): ".utf8)
        write(&buffer)
        try entries.advance()
        if buffer.count > 1 << 16 { try flush() }
    }

    /// Whether `key` was free; it is taken now.
    private func take(_ key: String) -> Bool { keys.insert(Array(key.utf8)).inserted }

    /// Takes `key` with the first number that is free.
    private func takeNumbered(_ key: String) -> String {
        let (start, first) = (Substring(key.utf8.dropLast()), Array(key.utf8))
        while true {
            let number = numbers[first, default: 2]
            numbers[first] = number + 1
            let numbered = "\(start)-\(number)\""
            if take(numbered) { return numbered }
        }
    }

    private func beginBucket(_ name: String) {
        separateBuckets()
        buffer.append(contentsOf: (name + ": {").utf8)
        bucket = name
        (keys, numbers) = ([], [:])
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
    }
}

/// Kept entries by the name of their bucket as JSON, byte by byte, in the order of their first appearance.
private struct UnrecognizedBuckets {
    private var order: [String] = []
    private var entries: [[UInt8]: [UnrecognizedEntry]] = [:]

    init(_ session: StoreConnection) throws {
        try session.forEachUnrecognizedEntry { _, entry in
            let name = entry.path.bucketJSON
            if entries[Array(name.utf8)] == nil { order.append(name) }
            entries[Array(name.utf8), default: []].append(entry)
        }
    }

    /// The buckets whose entries were not removed.
    var names: [String] { order.filter { entries[Array($0.utf8)] != nil } }

    mutating func remove(_ name: String) -> [UnrecognizedEntry] {
        entries.removeValue(forKey: Array(name.utf8)) ?? []
    }
}
