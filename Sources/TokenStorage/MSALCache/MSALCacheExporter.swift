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
    /// Hashes of the keys in the bucket; a false alarm only makes a key longer, and keys identify nothing.
    private var keys: Set<Int> = []
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
            for entry in foreign.remove(name) {
                if let key = entry.key {
                    try add(entry.value, [key], to: name)
                } else if bucket == nil {
                    addWhole(entry.value, as: name)
                }
            }
            try endBucket()
        }
        buffer.append(contentsOf: "\n}\n".utf8)
        try flush()
    }

    /// Adds an entry under the first of `candidates` that is free.
    private func add(_ entity: JSON, _ candidates: [String], to name: String) throws {
        if bucket == nil { beginBucket(name) } else { buffer.append(UInt8(ascii: ",")) }
        var key = candidates.first { !keys.contains($0.hashValue) }
        var number = 2
        while key == nil {
            let numbered = "\(candidates[0])-\(number)"
            if !keys.contains(numbered.hashValue) { key = numbered }
            number += 1
        }
        keys.insert(key.hashValue)
        buffer.append(contentsOf: "\n    ".utf8)
        JSON.write(key ?? "", to: &buffer)
        buffer.append(contentsOf: ": ".utf8)
        entity.write(to: &buffer)
        done += 1
        if buffer.count > 1 << 16 { try flush() }
    }

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
        try session.forEachForeignEntry { entry in
            if entries[entry.bucket] == nil { names.append(entry.bucket) }
            entries[entry.bucket, default: []].append(entry)
        }
    }

    mutating func remove(_ name: String) -> [ForeignEntry] {
        names.removeAll { $0 == name }
        return entries.removeValue(forKey: name) ?? []
    }
}
