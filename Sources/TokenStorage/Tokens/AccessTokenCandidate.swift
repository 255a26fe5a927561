import Database
import OAuth

/// A row that may answer a token query: what ranking needs, read without making strings.
struct AccessTokenCandidate {
    let id: Int64
    let expiresOn: Int64
    let cachedAt: Int64?
    let extendedExpiresOn: Int64?
    let isAging: Bool
    let isFromTheFuture: Bool
    let isUsable: Bool

    /// How many scope tokens it has beyond those asked for; more than any token has where the issuer declined some.
    let surplus: Int

    var isDeclined: Bool { surplus == Self.declined }

    private static let declined = Int.max

    /// Nil if the row lacks a token of `scope`, a `Scope.foldedText`, unless it is what the issuer gave for just that.
    ///
    /// The row was selected with ``SealedTable/selection``. `acceptsDeclined` says whether what the issuer gave for
    /// just that scope counts.
    init?(_ row: Row, scope: String, acceptsDeclined: Bool = false, buffer: ExpiryBuffer, now: Int64) {
        if let surplus = Self.surplus(of: row.bytes(AccessTokenColumn.scopeFold), beyond: scope) {
            self.surplus = surplus
        } else if row.optionalText(AccessTokenColumn.askedFold) == scope,
            acceptsDeclined || Self.isGranted(row, scope)
        {
            surplus = Self.declined
        } else {
            return nil
        }
        id = row.integer(0)
        expiresOn = row.integer(AccessTokenColumn.expiresOn)
        cachedAt = row.optionalInteger(AccessTokenColumn.cachedAt)
        extendedExpiresOn = row.optionalInteger(AccessTokenColumn.extendedExpiresOn)
        isAging = row.optionalInteger(AccessTokenColumn.refreshOn).map { $0 < now } ?? false
        isFromTheFuture = TokenState.isFromTheFuture(cachedAt: cachedAt, at: now)
        isUsable = !isFromTheFuture && buffer.isBehind(now, cachedAt: cachedAt, expiresOn: expiresOn)
    }

    /// Whether the issuer gave all of `scope`, by other names: `.default` is never granted by its own.
    private static func isGranted(_ row: Row, _ scope: String) -> Bool {
        Scope(scope).missing(from: Scope(row.text(AccessTokenColumn.target))).isEmpty
    }

    /// Whether this one is the better answer.
    func outranks(_ other: AccessTokenCandidate) -> Bool {
        if surplus != other.surplus { return surplus < other.surplus }
        if isAging != other.isAging { return !isAging }
        if expiresOn != other.expiresOn { return expiresOn > other.expiresOn }
        return id > other.id
    }

    /// Whether this one is the better answer to a request for no API in particular: a token for none, else the newest.
    func outranksForAny(_ other: AccessTokenCandidate) -> Bool {
        if isUsable != other.isUsable { return isUsable }
        if (surplus == 0) != (other.surplus == 0) { return surplus == 0 }
        let (stored, otherStored) = (cachedAt ?? 0, other.cachedAt ?? 0)
        return stored != otherStored ? stored > otherStored : id > other.id
    }

    /// Compares two sorted lists of folded scope tokens, each with single spaces between them.
    private static func surplus(of stored: UnsafeRawBufferPointer, beyond wanted: String) -> Int? {
        var wanted = wanted
        return wanted.withUTF8 { wanted in
            let space = UInt8(ascii: " ")
            var (surplus, index, next) = (0, 0, 0)
            while index < stored.count {
                // By hand: of all that a lookup does around SQLite, this is what it does most.
                var end = next
                while index < stored.count, stored[index] != space, end < wanted.count, stored[index] == wanted[end] {
                    index += 1
                    end += 1
                }
                let isWhole = index == stored.count || stored[index] == space
                if isWhole, end == wanted.count || wanted[end] == space {
                    next = end + 1
                } else {
                    surplus += 1
                    while index < stored.count, stored[index] != space { index += 1 }
                }
                index += 1
            }
            return next > wanted.count || wanted.isEmpty ? surplus : nil
        }
    }
}
