import OAuth
import SQLite

/// A row that may answer a token query: what ranking needs, read without making strings.
struct AccessTokenCandidate {
    let id: Int64
    let expiresOn: Int64
    let cachedAt: Int64?
    let extendedExpiresOn: Int64?
    let isAging: Bool
    let isUsable: Bool

    /// How many scope tokens it has beyond those asked for.
    let surplus: Int

    /// Nil if the row lacks a scope token that was asked for.
    ///
    /// Columns: id, expires_on, cached_at, extended_expires_on, refresh_on, scope_fold.
    init?(_ row: Row, scope: [String], buffer: ExpiryBuffer, now: Int64) {
        guard let surplus = Self.surplus(of: row.bytes(5), beyond: scope) else { return nil }
        self.surplus = surplus
        id = row.integer(0)
        expiresOn = row.integer(1)
        cachedAt = row.optionalInteger(2)
        extendedExpiresOn = row.optionalInteger(3)
        isAging = row.optionalInteger(4).map { $0 < now } ?? false
        // A clock that ran ahead when the token was stored makes its end unknowable.
        let isFromTheFuture = cachedAt.map { $0 > now + 60 } ?? false
        isUsable = !isFromTheFuture && buffer.isBehind(now, cachedAt: cachedAt, expiresOn: expiresOn)
    }

    /// Whether this one is the better answer.
    func outranks(_ other: AccessTokenCandidate) -> Bool {
        if surplus != other.surplus { return surplus < other.surplus }
        if isAging != other.isAging { return !isAging }
        if expiresOn != other.expiresOn { return expiresOn > other.expiresOn }
        return id > other.id
    }

    /// Compares two sorted lists of folded scope tokens, one of them as text with single spaces.
    private static func surplus(of stored: UnsafeRawBufferPointer, beyond wanted: [String]) -> Int? {
        var found = 0
        var surplus = 0
        var start = 0
        while start < stored.count {
            let rest = UnsafeRawBufferPointer(rebasing: stored[start...])
            let count = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.count
            start += count + 1
            if found < wanted.count, rest.starts(with: wanted[found], count: count) {
                found += 1
            } else {
                surplus += 1
            }
        }
        return found == wanted.count ? surplus : nil
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the first `count` bytes are those of `text`.
    fileprivate func starts(with text: String, count: Int) -> Bool {
        guard text.utf8.count == count else { return false }
        var text = text
        return text.withUTF8 { bytes in
            for index in 0..<count where bytes[index] != self[index] { return false }
            return true
        }
    }
}
