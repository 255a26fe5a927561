import OAuth

/// An MSAL unified cache, and where in it each bucket and each of its entries is; making one checks all of it.
package struct MSALCacheDocument {
    struct Bucket {
        let name: String
        /// The name as it was written, where no text can hold it.
        let rawName: String?
        /// The offset of the bucket's value.
        let offset: Int
        /// Nil if the value is not an object.
        let entries: [Entry]?
    }

    struct Entry {
        let key: String
        /// The key as it was written, where no text can hold it.
        let rawKey: String?
        /// The offset of the entry's value.
        let offset: Int
    }

    /// What it was made of; not a copy, so they have to stay where they are as long as it is used.
    let bytes: UnsafeRawBufferPointer
    let buckets: [Bucket]

    /// - Throws: ``TokenStoreError/Code/notAnMSALCache`` if the bytes are not a JSON object; unless `isKnownFormat`,
    ///   that includes an object without any bucket of a cache.
    package init(
        _ bytes: UnsafeRawBufferPointer,
        isKnownFormat: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws {
        self.bytes = bytes
        guard !bytes.isEmpty else {
            throw TokenStoreError.notAnMSALCache("the document is empty, and an empty cache is {}")
        }
        if let other = Self.otherFormats.first(where: { bytes.starts(with: $0.start) }) {
            throw TokenStoreError.notAnMSALCache(
                other.problem,
                Remedy(.checkSource, "\(other.advice), and import the result")
            )
        }
        // A token alone begins so as well, and has points.
        if Self.startsInBase64.contains(where: { bytes.starts(with: $0.utf8) }), !bytes.contains(UInt8(ascii: ".")) {
            throw TokenStoreError.notAnMSALCache(
                "the document is in Base64",
                Remedy(.checkSource, "decode it, and import the result")
            )
        }
        if let encoding = Self.wideEncoding(bytes) {
            throw TokenStoreError.notAnMSALCache("the document is in \(encoding), and a cache is in UTF-8")
        }
        let found: [Bucket]?
        let reading = ReadingProgress(progress, total: bytes.count)
        do {
            found = try Self.buckets(bytes, reading)
        } catch {
            throw TokenStoreError.notAnMSALCache("the document is \(error), and nothing was imported")
        }
        if let error = reading.error { throw error }
        guard let found else { throw Self.noObject(bytes) }
        buckets = found
        let isCache = isKnownFormat || buckets.isEmpty || buckets.contains { MSALBucket(rawValue: $0.name) != nil }
        guard isCache else { throw Self.noCache(buckets, bytes) }
    }

    /// The error for an object without a bucket of a cache.
    private static func noCache(_ buckets: [Bucket], _ bytes: UnsafeRawBufferPointer) -> TokenStoreError {
        let problem = "the document has no bucket of an MSAL cache, such as AccessToken"
        let browsers = buckets.filter { isBrowserKey($0.name) }
        if !browsers.isEmpty {
            let isSealed = browsers.contains { isEncrypted(bytes, at: $0.offset) }
            let place = isSealed ? "encrypted in a browser" : "in a browser or in memory"
            return .notAnMSALCache(
                "\(problem), but the entries that MSAL.js keeps \(place)",
                Remedy(.checkSource, "sign in instead, or import what MSAL for Node has serialized")
            )
        }
        let isCache = { (bucket: Bucket) in
            bucket.entries?.contains { MSALBucket(rawValue: $0.key) != nil } ?? false
        }
        if buckets.contains(where: isCache) {
            return .notAnMSALCache(
                "\(problem), but whole caches, each under a name",
                Remedy(.checkSource, "import each of them by itself")
            )
        }
        return .notAnMSALCache(problem, Remedy(.confirmFormat, "if it is one, import it as a known format"))
    }

    /// Whether MSAL.js names an entry of its own storage so: since version 4 with bars, in versions before with hyphens.
    private static func isBrowserKey(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("msal.")
            || ["accesstoken", "accesstoken_with_authscheme", "refreshtoken", "idtoken"].contains { type in
                name.contains("-\(type)-") || name.contains("|\(type)|")
            }
    }

    /// Whether an entry of a browser's is encrypted, with a key that is in a cookie of the browser's session.
    private static func isEncrypted(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        var reader = JSONReader(bytes, from: offset, mends: true)
        // What cannot be read is not known to be encrypted, and the advice is the same.
        guard let value = try? reader.value() else { return false }
        let entry = value.text.flatMap { try? JSONValue(parsing: $0) } ?? value
        return entry.object.map { $0["nonce"] != nil && $0["data"] != nil } ?? false
    }

    /// How files begin that a cache may be in, what they are, and what is to be done with them.
    ///
    /// MSAL's libraries have the Data Protection API of Windows encrypt theirs there.
    private static let otherFormats: [(start: [UInt8], problem: String, advice: String)] = [
        (
            [0x01, 0x00, 0x00, 0x00, 0xD0, 0x8C, 0x9D, 0xDF], "Windows has encrypted the document for its user",
            "decrypt it there, as that user"
        ),
        (
            Array("AQAAANCMnd8".utf8), "Windows has encrypted the document for its user, and it is in Base64",
            "decode and decrypt it there, as that user"
        ),
        ([0x1F, 0x8B], "the document is compressed", "unpack it"),
        ([0x50, 0x4B, 0x03, 0x04], "the document is a ZIP archive", "unpack it"),
        (Array("SQLite format 3\u{0}".utf8), "the document is an SQLite file", "export the cache that is in it"),
    ]

    /// How an object begins in Base64: with a bracket, and a quotation mark, a space or the end of a line.
    private static let startsInBase64 = ["eyJ", "eyA", "ewo", "ew0K"]

    /// The encoding of a document that begins as JSON does in UTF-16 or UTF-32: with a byte order mark, or with a
    /// bracket or white space.
    private static func wideEncoding(_ bytes: UnsafeRawBufferPointer) -> String? {
        func isWide(_ first: UInt8, _ second: UInt8) -> Bool {
            let pair = (first, second)
            guard pair != (0xFF, 0xFE), pair != (0xFE, 0xFF) else { return true }
            return (first == 0) != (second == 0) && "{[ \t\r\n".utf8.contains(first | second)
        }
        guard bytes.count > 1 else { return nil }
        let rest: (UInt8, UInt8) = bytes.count > 3 ? (bytes[2], bytes[3]) : (1, 1)
        if isWide(bytes[0], bytes[1]) { return rest == (0, 0) ? "UTF-32" : "UTF-16" }
        return (bytes[0], bytes[1]) == (0, 0) && isWide(rest.0, rest.1) ? "UTF-32" : nil
    }

    /// The error for a document whose JSON is not an object.
    private static func noObject(_ bytes: UnsafeRawBufferPointer) -> TokenStoreError {
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") else {
            return .notAnMSALCache("the document is JSON but no object, as an MSAL cache is")
        }
        return .notAnMSALCache(
            "the document is a JSON list, and an MSAL cache is an object",
            Remedy(
                .checkSource,
                "if it is a cache of ADAL or of an early MSAL.NET, sign in instead, as it cannot be imported"
            )
        )
    }

    /// The number of entries in all buckets.
    var entryCount: Int { buckets.reduce(0) { $0 + ($1.entries?.count ?? 1) } }

    /// The buckets; nil if the document is not an object.
    private static func buckets(_ bytes: UnsafeRawBufferPointer, _ reading: ReadingProgress) throws(JSONError)
        -> [Bucket]?
    {
        let hasByteOrderMark = bytes.count > 2 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var reader = JSONReader(bytes, from: hasByteOrderMark ? 3 : 0, mends: true)
        guard reader.peek() == UInt8(ascii: "{") else {
            try reader.skipValue()
            try reader.end()
            return nil
        }
        var buckets: [Bucket] = []
        try reader.members { name, reader throws(JSONError) in
            let rawName = reader.oddName
            let isObject = reader.peek() == UInt8(ascii: "{")
            let offset = reader.offset
            var entries: [Entry] = []
            if isObject {
                try reader.members { key, reader throws(JSONError) in
                    _ = reader.peek()
                    entries.append(Entry(key: key, rawKey: reader.oddName, offset: reader.offset))
                    try reader.skipValue()
                    reading.advance(to: reader.offset)
                }
            } else {
                try reader.skipValue()
            }
            buckets.append(Bucket(name: name, rawName: rawName, offset: offset, entries: isObject ? entries : nil))
        }
        try reader.end()
        return buckets.merged()
    }
}

/// Tells how far a document is read, which takes seconds where it is hundreds of megabytes long.
private final class ReadingProgress {
    private static let step = 1 << 22

    private let handler: TokenStore.ProgressHandler?
    private let total: Int
    private var next = step

    /// What ended the work; the rest of the document is only passed over.
    private(set) var error: (any Error)?

    init(_ handler: TokenStore.ProgressHandler?, total: Int) { (self.handler, self.total) = (handler, total) }

    func advance(to offset: Int) {
        guard offset >= next, error == nil else { return }
        next = offset + Self.step
        do {
            try handler?(TokenStore.Progress(done: offset, total: total, unit: "bytes"))
        } catch {
            self.error = error
        }
    }
}

extension [MSALCacheDocument.Bucket] {
    /// The buckets with those of one name as one, which has the entries of all of them.
    ///
    /// Of values that are kept as a whole the last one counts. Names are compared byte by byte.
    fileprivate func merged() -> Self {
        // Hardly a document repeats one. By bytes: to hash a text takes quadratic time on combining marks.
        guard Set(map { [UInt8]($0.name.utf8) }).count < count else { return self }
        var places: [[UInt8]: Int] = [:]
        var last: Self = []
        var entries: [[MSALCacheDocument.Entry]] = []
        for bucket in self {
            let isWhole = bucket.entries?.isEmpty ?? true
            let name = bucket.rawName.map { [0xFF] + [UInt8]($0.utf8) } ?? [UInt8](bucket.name.utf8)
            let place = places[[isWhole ? 1 : 0] + name, default: last.count]
            if place == last.count {
                places[[isWhole ? 1 : 0] + name] = place
                last.append(bucket)
                entries.append([])
            }
            last[place] = bucket
            entries[place] += bucket.entries ?? []
        }
        return zip(last, entries).map { bucket, entries in
            MSALCacheDocument.Bucket(
                name: bucket.name,
                rawName: bucket.rawName,
                offset: bucket.offset,
                entries: bucket.entries == nil ? nil : entries
            )
        }
    }
}

extension [MSALCacheDocument.Entry] {
    /// The entries that count, each with those that it stands before: of two with one key the last one counts, and of
    /// two whose keys differ only in case, and that are the same entity, the lower-cased one.
    ///
    /// Keys are compared byte by byte. Early releases of MSAL Go wrote mixed-case keys beside which a later one left
    /// the current row.
    func withOlder(_ isSame: (Element, Element) throws -> Bool) rethrows -> [(entry: Element, older: Self)] {
        // Most documents have neither.
        let hasCase = contains { !$0.key.hasSameBytes(as: $0.key.lowercased()) }
        guard hasCase || Set(map { $0.bytes() }).count < count else {
            return map { ($0, []) }
        }
        let last = Dictionary(zip(map { $0.bytes() }, indices)) { $1 }
        var older: [Int: Self] = [:]
        for index in indices {
            var standing = last[self[index].bytes()] ?? index
            if let lowered = last[self[index].bytes(isLowered: true)], lowered != standing,
                try isSame(self[standing], self[lowered])
            {
                standing = lowered
            }
            if standing != index { older[standing, default: []].append(self[index]) }
        }
        let behind = Set(older.values.joined().map(\.offset))
        return indices.filter { !behind.contains(self[$0].offset) }.map { (self[$0], older[$0] ?? []) }
    }
}

extension MSALCacheDocument.Entry {
    /// The key; where no text can hold it, as it was written, behind a byte that no text has.
    fileprivate func bytes(isLowered: Bool = false) -> [UInt8] {
        guard rawKey == nil else { return [0xFF] + Array((rawKey ?? "").utf8) }
        return Array((isLowered ? key.lowercased() : key).utf8)
    }
}
