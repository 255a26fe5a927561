import OAuth
import SQLite

/// Takes an MSAL unified cache into a store, entry by entry, in the transaction that is open.
struct MSALCacheImporter {
    let session: StoreSession
    private(set) var report = ImportReport()
    var accounts = ImportedAccounts()
    private var changedAccounts: Set<Int64> = []

    /// The newest account from before this import.
    private let newestAccount: Int64

    /// What the store keeps in quarantine from before this import, and what was taken in its place.
    private var quarantine: [ForeignEntry.Place: Int64]
    private var mended: [ForeignEntry.Place: Int64] = [:]

    /// Tenants by the domains that rows name them by, as the ID tokens say; a domain is one account's own.
    var tenants: [[String]: String] = [:]

    init(_ session: StoreSession) throws {
        self.session = session
        newestAccount = try session.connection.integer("SELECT max(id) FROM account") ?? 0
        quarantine = try session.quarantine()
    }

    /// ID tokens come first: only they tell which issuer an account is of.
    private static let order: [MSALBucket] = [
        .idToken, .account, .accessToken, .boundAccessToken, .refreshToken, .appMetadata,
    ]

    mutating func run(
        _ bytes: UnsafeRawBufferPointer,
        _ index: MSALCacheIndex,
        progress: ((Progress) -> Void)?
    ) throws {
        var done = 0
        let total = index.entryCount
        func advance() {
            done += 1
            if done.isMultiple(of: 512) { progress?(Progress(done: done, total: total, unit: "entries")) }
        }
        for bucket in Self.order {
            for found in index.buckets where found.name == bucket.rawValue {
                try take(bucket, found, bytes, advance)
            }
        }
        for found in index.buckets where MSALBucket(rawValue: found.name) == nil {
            try takeForeign(found, bytes, advance)
        }
        for row in mended.values { try session.deleteForeignEntry(row) }
        for account in changedAccounts { try session.touchAccount(account) }
        if report.changes > 0 { try session.record(.import, outcome: "\(report.changes) entries") }
    }

    private mutating func take(
        _ bucket: MSALBucket,
        _ found: MSALCacheIndex.Bucket,
        _ bytes: UnsafeRawBufferPointer,
        _ advance: () -> Void
    ) throws {
        guard let entries = found.entries else {
            let value = try value(bytes, at: found.offset)
            if value.isNull { return }
            report.rejected.append(.init(bucket: found.name, reason: "the bucket is \(value.kind), not an object"))
            return
        }
        let (current, older) = entries.currentAndOlder
        report.unchanged += entries.count - current.count
        for entry in current {
            let isTaken = try take(bucket, entry, bytes)
            advance()
            guard !isTaken, let behind = older[entry.key] else { continue }
            // What makes no sense harms no other row, not even one that it stands before.
            report.unchanged -= behind.count
            for entry in behind { _ = try take(bucket, entry, bytes) }
        }
    }

    /// - Returns: whether it was taken; else it is in quarantine.
    private mutating func take(
        _ bucket: MSALBucket,
        _ entry: MSALCacheIndex.Entry,
        _ bytes: UnsafeRawBufferPointer
    ) throws -> Bool {
        let value = try value(bytes, at: entry.offset)
        let place = ForeignEntry.Place(bucket: bucket.rawValue, key: entry.key)
        do {
            try take(bucket, value)
            mended[place] = quarantine[place]
            return true
        } catch let rejection as MSALRejection {
            report.rejected.append(.init(bucket: place.bucket, reason: rejection.reason))
            _ = try session.saveForeignEntry(ForeignEntry(place, value: value, rejection: rejection.reason))
            // A document may have both under one key.
            quarantine[place] = nil
            mended[place] = nil
            return false
        }
    }

    private mutating func take(_ bucket: MSALBucket, _ value: JSON) throws {
        let entity = try MSALEntity(session.namingPort(value))
        switch bucket {
        case .idToken: try takeIDToken(entity)
        case .account: try takeAccount(entity)
        case .accessToken, .boundAccessToken: try takeAccessToken(entity, bucket)
        case .refreshToken: try takeRefreshToken(entity)
        case .appMetadata: try takeAppMetadata(entity)
        }
    }

    private func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> JSON {
        var reader = JSONReader(bytes, from: offset)
        return try reader.value()
    }

    mutating func count(_ isChanged: Bool, _ kind: WritableKeyPath<ImportReport, Int>, account: Int64?) {
        report[keyPath: isChanged ? kind : \.unchanged] += 1
        if isChanged, let account { changedAccounts.insert(account) }
    }
}

// MARK: - Buckets not known here

extension MSALCacheImporter {
    private mutating func takeForeign(
        _ bucket: MSALCacheIndex.Bucket,
        _ bytes: UnsafeRawBufferPointer,
        _ advance: () -> Void
    ) throws {
        var entries = (bucket.entries ?? []).map { (key: Optional($0.key), offset: $0.offset) }
        // A bucket that is empty, or no object, is kept as one value.
        if entries.isEmpty { entries = [(nil, bucket.offset)] }
        for entry in entries {
            let value = try value(bytes, at: entry.offset)
            let kept = ForeignEntry(.init(bucket: bucket.name, key: entry.key), value: value, rejection: nil)
            let isChanged = try session.saveForeignEntry(kept)
            count(isChanged, \.other, account: nil)
            if bucket.name == StoreSession.accountMetadataBucket {
                try session.saveAccountMetadata(value, after: isChanged ? 0 : newestAccount)
            }
            advance()
        }
    }
}
