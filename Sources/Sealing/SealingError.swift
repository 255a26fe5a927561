public import OAuth

/// Why a value or a key cannot be sealed, opened or found.
///
/// A key that is absent, locked or out of reach is three different things: none of them is a reason to make a new one.
public struct SealingError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which the code is compared and printed.
        public let rawValue: String

        /// A code of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The source answers, and holds no key.
        public static let keyAbsent = Code(rawValue: "key_absent")
        /// The source holds a key that a person has to unlock.
        public static let keyLocked = Code(rawValue: "key_locked")
        /// The source does not answer.
        public static let keyUnavailable = Code(rawValue: "key_unavailable")
        /// Another process holds the place of the key for longer than the time limit.
        public static let keyBusy = Code(rawValue: "key_busy")
        /// Others may read or replace the key.
        public static let keyInsecure = Code(rawValue: "key_insecure")
        /// The source holds a value that is not a key.
        public static let keyMalformed = Code(rawValue: "key_malformed")
        /// The source holds a key, but not the one that the store is sealed under.
        public static let otherKey = Code(rawValue: "other_key")
        /// The text names no key source.
        public static let unusableSource = Code(rawValue: "unusable_source")
        /// The stored data key does not open, though the key is the right one.
        public static let damagedDataKey = Code(rawValue: "damaged_data_key")
        /// The value is sealed under a data key that is not this one.
        public static let unknownDataKey = Code(rawValue: "unknown_data_key")
        /// The value was altered, or moved from another place.
        public static let damagedValue = Code(rawValue: "damaged_value")
        /// A newer version sealed the value, or it is not a sealed value.
        public static let unknownFormat = Code(rawValue: "unknown_format")
        /// AES-GCM cannot seal so much at once.
        public static let valueTooLarge = Code(rawValue: "value_too_large")

        /// The codes of this version; later ones may have more.
        public static let known = [
            keyAbsent, keyLocked, keyUnavailable, keyBusy, keyInsecure, keyMalformed, otherKey, unusableSource,
            damagedDataKey, unknownDataKey, damagedValue, unknownFormat, valueTooLarge,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "Sealing.SealingError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// The id of the key that the store is sealed under, where another was found.
    public private(set) var wantedKeyID: String?

    /// The id of the key that was found instead.
    public private(set) var foundKeyID: String?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension SealingError {
    package static func keyAbsent(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.keyAbsent, problem, remedy)
    }

    package static func keyLocked(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.keyLocked, problem, remedy)
    }

    package static func keyUnavailable(_ problem: String, _ remedy: Remedy?) -> SealingError {
        SealingError(.keyUnavailable, problem, remedy)
    }

    package static func keyBusy(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.keyBusy, problem, remedy)
    }

    package static func keyInsecure(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.keyInsecure, problem, remedy)
    }

    package static func keyMalformed(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.keyMalformed, problem, remedy)
    }

    package static func unusableSource(_ problem: String, _ remedy: Remedy) -> SealingError {
        SealingError(.unusableSource, problem, remedy)
    }

    package static func otherKey(wanted: String, found: String) -> SealingError {
        var error = SealingError(
            .otherKey,
            "the store is sealed under key \(wanted), and the key source gives key \(found)",
            .changeKey("restore the first key or its passphrase, or name its place")
        )
        error.wantedKeyID = wanted
        error.foundKeyID = found
        return error
    }

    /// A passphrase was given, and the key that it makes is another one.
    package static func wrongPassphrase(wanted: String?, found: String?) -> SealingError {
        var error = SealingError(
            .otherKey,
            "the passphrase is wrong",
            .provideKey("give the one that the store was made with")
        )
        error.wantedKeyID = wanted
        error.foundKeyID = found
        return error
    }

    package static func damagedDataKey(
        _ id: UInt32,
        _ remedy: Remedy = Remedy(.restore, "restore the store from a copy")
    ) -> SealingError {
        SealingError(.damagedDataKey, "data key \(id) does not open, it is damaged or of another store", remedy)
    }

    /// A data key whose row names another key than the one that opens it.
    package static func misnamedDataKey(_ id: UInt32) -> SealingError {
        SealingError(.damagedDataKey, "what is stored beside data key \(id) does not name its key", .repair)
    }

    /// A data key that is not the current one, without which most of the store can be read.
    package static func damagedOlderKey(_ id: UInt32) -> SealingError {
        damagedDataKey(id, .repair)
    }

    package static func unknownDataKey(_ id: UInt32) -> SealingError {
        SealingError(.unknownDataKey, "the value is sealed under data key \(id), which is not at hand", .check)
    }

    package static func damagedValue(table: String, column: String, row: Int64) -> SealingError {
        SealingError(.damagedValue, "\(table).\(column) of row \(row) is damaged or was moved", .repair)
    }

    package static func damaged(_ location: SealedLocation) -> SealingError {
        .damagedValue(table: location.table, column: location.column, row: location.row)
    }

    package static func unknownFormat(version: UInt8) -> SealingError {
        SealingError(
            .unknownFormat,
            "the value is sealed in format \(version), which this version does not know",
            Remedy(.check, "install a newer version, or check the store")
        )
    }

    package static func valueTooLarge(count: Int) -> SealingError {
        SealingError(
            .valueTooLarge,
            "a value of \(count) bytes cannot be sealed",
            .correct("store less in one value")
        )
    }
}
