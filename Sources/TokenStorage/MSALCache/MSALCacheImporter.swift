import Database
import OAuth
import SQL

/// Takes an MSAL unified cache into a store, entry by entry, in the transaction that is open.
struct MSALCacheImporter {
    let session: StoreConnection

    /// Whether nothing of it will stay, and all that it would change is to be named.
    private let isTrial: Bool

    private(set) var report = ImportReport()
    var accounts = ImportedAccounts()

    /// The environments of the accounts that the store had.
    var environments: [Int64: String] = [:]

    /// nil: not asked yet.
    var areAccountsAtPorts: Bool?

    /// How old the ID tokens are beside those that the store had, by account and client.
    var ages: [Int64: [String: ImportedAge]] = [:]

    /// When the ID tokens of the accounts that the store had were issued.
    var issues: [Int64: AccountIssues] = [:]

    /// When access tokens were stored, by account and client, where no ID token tells ages.
    var times: [Int64: [String: ImportedTime]] = [:]

    /// When the newest ID token was issued whose names an account got, in Unix seconds.
    var named: [Int64: Int64] = [:]

    /// What there was an entry for up to now: profiles, and clients by their folded id and host.
    let profiles = ImportedProfiles()
    var clients: Set<[String]> = []

    /// The clients, folded, that the document is older of than what the store had.
    private(set) var olderClients: Set<String> = []

    /// The tokens of accounts that have many.
    var accessTokens = TokenIndex()
    var refreshTokens = TokenIndex()
    var refreshedTokens = RefreshedTokens()

    /// The tenants that ID tokens are of.
    var described: [DescribedTenant] = []
    private var changedAccounts: Set<Int64> = []

    /// The rows of tokens that were written, by kind.
    private var written: [WritableKeyPath<ImportReport, Int>: Set<Int64>] = [:]

    /// Those whose ID tokens in the document are of the port that the store knows, and of others, by id and host.
    private var atKnownPort: Set<Account.ID> = []
    private var atOtherPorts: Set<Account.ID> = []
    private var namedPorts = NamedPorts()

    /// The rows that the store had quarantined before this import, and those whose entry was taken in now.
    private var quarantined: [UnrecognizedEntry.Path: Int64]
    private var mended: [UnrecognizedEntry.Path: Int64] = [:]

    let domains: ImportedDomains
    let places: AccountPlaces
    var persons = UserFlowPersons()

    init(_ session: StoreConnection, isTrial: Bool = false) throws {
        self.session = session
        self.isTrial = isTrial
        domains = ImportedDomains(session)
        places = AccountPlaces(session)
        quarantined = try session.quarantinedEntries()
    }

    /// ID tokens come first: only they tell which issuer an account is of.
    private static let order: [MSALBucket] = [
        .idToken, .account, .accessToken, .boundAccessToken, .refreshToken, .appMetadata,
    ]

    mutating func run(_ document: MSALCacheDocument, progress: TokenStore.ProgressHandler?) throws {
        let bytes = document.bytes
        let entries = RowProgress(progress, total: document.entryCount, unit: "entries")
        if NamedPorts.mayBe(in: bytes) { try notePorts(document, bytes) }
        for bucket in Self.order {
            // By then every token has told its age.
            if bucket == .appMetadata { olderClients = clientsOfOlderTokens() }
            for found in document.buckets where found.name == bucket.rawValue {
                try take(bucket, found, bytes, entries)
            }
        }
        for found in document.buckets where MSALBucket(rawValue: found.name) == nil {
            try keepUnknown(found, bytes, entries)
        }
        try describeTenants()
        for row in mended.values { try session.deleteUnrecognizedEntry(row) }
        // Those that were made now are as old as this import.
        for account in changedAccounts.subtracting(session.newAccounts) { try session.touchAccount(account) }
        report.accounts = changedAccounts.count
        let named = changedAccounts.sorted().prefix(isTrial ? changedAccounts.count : PurgeCounts.namedAccounts)
        report.accountNames = try session.accountNames(Array(named))
        try entries.end()
        if report.changes > 0 { try session.record(.import, outcome: "\(report.changes) entries") }
    }

    private mutating func take(
        _ bucket: MSALBucket,
        _ found: MSALCacheDocument.Bucket,
        _ bytes: UnsafeRawBufferPointer,
        _ progress: RowProgress
    ) throws {
        guard let entries = found.entries else {
            let value = try value(bytes, at: found.offset)
            if value.json.isNull, value.raw == nil { return }
            let path = UnrecognizedEntry.Path(bucket: found.name, key: nil)
            return try reject(path, value, value.oddity ?? "the bucket is \(value.json.kind), not an object")
        }
        // Each is read once, however many have its key in other letter case.
        var known: [Int: EntityIdentity?] = [:]
        func identity(_ entry: MSALCacheDocument.Entry) throws -> EntityIdentity? {
            if let identity = known[entry.offset] { return identity }
            let identity = try value(bytes, at: entry.offset).json.object.map { EntityIdentity($0, bucket) }
            known[entry.offset] = .some(identity)
            return identity
        }
        let current = try entries.withOlder { first, second in
            guard let first = try identity(first), let second = try identity(second) else { return true }
            return first == second
        }
        report.unchanged += entries.count - current.count
        for (entry, older) in current {
            let isTaken = try take(bucket, entry, bytes)
            try progress.advance()
            guard !isTaken else { continue }
            // What makes no sense harms no other row, not even one that it stands before.
            report.unchanged -= older.count
            for entry in older { _ = try take(bucket, entry, bytes) }
        }
    }

    /// - Returns: whether it was taken; otherwise it is quarantined.
    private mutating func take(
        _ bucket: MSALBucket,
        _ entry: MSALCacheDocument.Entry,
        _ bytes: UnsafeRawBufferPointer
    ) throws -> Bool {
        let value = try value(bytes, at: entry.offset)
        let path = UnrecognizedEntry.Path(bucket: bucket.rawValue, key: entry.key, rawKey: entry.rawKey)
        do {
            if let oddity = value.oddity { throw MSALRejection(oddity) }
            try take(bucket, value.json)
            if let row = quarantined[path] { mended[path] = row }
            return true
        } catch let rejection as MSALRejection {
            try reject(path, value, rejection.reason)
        } catch let unfit as UnfitText {
            try reject(path, value, unfit.problem)
        }
        // A document may have both under one key.
        quarantined[path] = nil
        mended[path] = nil
        return false
    }

    /// Quarantines an entry, and reports it.
    private mutating func reject(_ path: UnrecognizedEntry.Path, _ value: Value, _ reason: String) throws {
        report.rejected.append(.init(path, reason: reason))
        let entry = UnrecognizedEntry(path, value: value.json, raw: value.raw, rejection: reason)
        _ = try session.saveUnrecognizedEntry(entry)
    }

    private mutating func take(_ bucket: MSALBucket, _ value: JSONValue) throws {
        let entity = try MSALEntity(namingPort(value, bucket))
        switch bucket {
        case .idToken: try takeIDToken(entity)
        case .account: try takeAccount(entity)
        case .accessToken, .boundAccessToken: try takeAccessToken(entity, bucket)
        case .refreshToken: try takeRefreshToken(entity)
        case .appMetadata: try takeAppMetadata(entity)
        }
    }

    private mutating func notePorts(_ document: MSALCacheDocument, _ bytes: UnsafeRawBufferPointer) throws {
        for found in document.buckets {
            guard let bucket = MSALBucket(rawValue: found.name) else { continue }
            for (entry, _) in found.entries?.withOlder({ _, _ in true }) ?? [] {
                namedPorts.add(try value(bytes, at: entry.offset).json, bucket)
            }
        }
    }

    /// The entity with the port of its host, unless the document tells it from what is there: it names the port beside
    /// it, or has an ID token of another port.
    private mutating func namingPort(_ value: JSONValue, _ bucket: MSALBucket) throws -> JSONValue {
        let value = value.bracketingAddress
        let isApart = namedPorts.tellApart(value, bucket)
        // No ID token tells the port of a client's own token, or of its metadata.
        if isApart, value.object?["home_account_id"]?.text == nil { return value }
        guard let named = try session.namingPort(value, places) else { return value }
        guard let host = value.object?["environment"]?.text, let id = value.object?["home_account_id"]?.text,
            let place = named.object?["environment"]?.text.flatMap({ HostAndPort($0, usualPort: 443) })
        else { return named }
        let account = Account.ID(issuer: host.folded, homeAccountID: id)
        if bucket == .idToken, let token = value.object?["secret"]?.text.map({ Secret($0) }),
            let issuer = (try? IDToken(decoding: token))?.claims.issuer.flatMap({ WebAddress($0) }),
            issuer.host == place.host
        {
            if issuer.port == place.port { atKnownPort.insert(account) } else { atOtherPorts.insert(account) }
        }
        let isElsewhere = atOtherPorts.contains(account) || isApart && !atKnownPort.contains(account)
        return isElsewhere ? value : named
    }

    /// A value of the document.
    private struct Value {
        /// What it says, as well as it can be read.
        let json: JSONValue

        /// The value as it was written, and why it cannot be read to the letter; nil where it can.
        let raw: String?
        let oddity: String?
    }

    private func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Value {
        var reader = JSONReader(bytes, from: offset, mends: true)
        let json = try reader.value()
        let written = UnsafeRawBufferPointer(rebasing: bytes[offset..<reader.offset])
        let oddity = reader.oddity ?? (json.hasNUL(in: written) ? "a text in it has a NUL character" : nil)
        let raw = oddity.map { _ in String(decoding: written, as: UTF8.self) }
        return Value(json: json, raw: raw, oddity: oddity)
    }

    /// Counts a token by the row that it was written to, if it was; one that takes the place of another of the document
    /// adds none to the store.
    mutating func count(_ row: Int64?, _ kind: WritableKeyPath<ImportReport, Int>, account: Int64?) {
        var isAdded = false
        if let row { isAdded = written[kind, default: []].insert(row).inserted }
        count(isAdded, kind, account: account)
    }

    mutating func count(_ isChanged: Bool, _ kind: WritableKeyPath<ImportReport, Int>, account: Int64?) {
        report[keyPath: isChanged ? kind : \.unchanged] += 1
        if isChanged, let account { changedAccounts.insert(account) }
    }
}

// MARK: - Buckets not known here

extension MSALCacheImporter {
    private mutating func keepUnknown(
        _ bucket: MSALCacheDocument.Bucket,
        _ bytes: UnsafeRawBufferPointer,
        _ progress: RowProgress
    ) throws {
        var entries = (bucket.entries ?? []).withOlder { _, _ in false }.map {
            (key: Optional($0.entry.key), rawKey: $0.entry.rawKey, offset: $0.entry.offset)
        }
        // A bucket that is empty, or not an object, is kept as one value.
        if entries.isEmpty { entries = [(nil, nil, bucket.offset)] }
        for entry in entries {
            let value = try value(bytes, at: entry.offset)
            let path = UnrecognizedEntry.Path(
                bucket: bucket.name,
                key: entry.key,
                rawBucket: bucket.rawName,
                rawKey: entry.rawKey
            )
            let kept = UnrecognizedEntry(path, value: value.json, raw: value.raw, rejection: nil)
            let isChanged = try session.saveUnrecognizedEntry(kept)
            count(isChanged, \.other, account: nil)
            if bucket.name == StoreConnection.accountMetadataBucket {
                guard value.oddity == nil else { continue }
                changedAccounts.formUnion(
                    try session.saveAccountMetadata(value.json, ofNewAccountsAlone: !isChanged) {
                        age(of: $0, client: $1) == .older
                    }
                )
            }
            try progress.advance()
        }
    }
}
