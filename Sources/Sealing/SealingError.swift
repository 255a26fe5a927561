/// Why a value or a key cannot be sealed, opened or found.
///
/// A key that is absent, locked or out of reach is three different things: none of them is a reason to make a new one.
public enum SealingError: Error, Hashable, Sendable {
    /// The source answers, and holds no key.
    case keyAbsent(String)

    /// The source holds a key that a person has to unlock.
    case keyLocked(String)

    /// The source does not answer.
    case keyUnavailable(String)

    /// Another process holds the place of the key for longer than the time limit.
    case keyBusy(String)

    /// Others may read or replace the key.
    case keyInsecure(String)

    /// The source holds a value that is not a key.
    case keyMalformed(String)

    /// The source holds a key, but not the one that the store is sealed under; both named by id.
    case otherKey(wanted: String, found: String)

    /// The text names no key source.
    case unusableSource(String)

    /// The stored data key does not open, though the key is the right one.
    case damagedDataKey(UInt32)

    /// The value is sealed under a data key that is not this one.
    case unknownDataKey(UInt32)

    /// The value was altered, or moved from another place.
    case damagedValue(table: String, column: String, row: Int64)

    /// A newer version sealed the value, or it is not a sealed value.
    case unknownFormat(version: UInt8)

    /// AES-GCM cannot seal so much at once.
    case valueTooLarge(count: Int)

    package static func damaged(_ location: SealedLocation) -> SealingError {
        .damagedValue(table: location.table, column: location.column, row: location.row)
    }
}

extension SealingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .keyAbsent(let sentence), .keyLocked(let sentence), .keyUnavailable(let sentence),
            .keyBusy(let sentence), .keyInsecure(let sentence), .keyMalformed(let sentence),
            .unusableSource(let sentence):
            sentence
        case .otherKey(let wanted, let found):
            """
            the store is sealed under key \(wanted), and the key source gives key \(found); restore the first \
            key or its passphrase, or name its place with --key
            """
        case .damagedDataKey(let id):
            "data key \(id) does not open, it is damaged or of another store; restore the store from a copy"
        case .unknownDataKey(let id):
            "the value is sealed under data key \(id), which is not at hand; run 'tokenstore check'"
        case .damagedValue(let table, let column, let row):
            "\(table).\(column) of row \(row) is damaged or was moved; run 'tokenstore check --repair'"
        case .unknownFormat(let version):
            """
            the value is sealed in format \(version), which this version does not know; update tokenstore, or run \
            'tokenstore check'
            """
        case .valueTooLarge(let count):
            "a value of \(count) bytes cannot be sealed; store less in one value"
        }
    }
}
