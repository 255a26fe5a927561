import Crypto
package import OAuth

/// A 256-bit key that seals values, with the id by which sealed values name it.
package struct DataKey: Sendable {
    package static let byteCount = 32

    package let id: UInt32

    /// The one format of values under this key.
    package let format: SealedFormat

    /// Whether a key of an older format may be beside this one, whose values are being sealed anew.
    package let replacesOlder: Bool
    let key: SymmetricKey

    /// A new key from the kernel's randomness.
    package init(id: UInt32, format: SealedFormat = .bound, replacesOlder: Bool = false) {
        self.init(id: id, format: format, replacesOlder: replacesOlder, key: SymmetricKey(size: .bits256))
    }

    /// The same key, with or without older ones beside it.
    package func replacingOlder(_ replacesOlder: Bool) -> DataKey {
        DataKey(id: id, format: format, replacesOlder: replacesOlder, key: key)
    }

    /// The key of these 32 bytes.
    package init(id: UInt32, format: SealedFormat = .bound, replacesOlder: Bool = false, bytes: Secret) {
        let key = bytes.withUnsafeBytes { SymmetricKey(data: $0) }
        self.init(id: id, format: format, replacesOlder: replacesOlder, key: key)
    }

    private init(id: UInt32, format: SealedFormat, replacesOlder: Bool, key: SymmetricKey) {
        precondition(key.bitCount == Self.byteCount * 8, "a data key has 32 bytes")
        self.id = id
        self.format = format
        self.replacesOlder = replacesOlder
        self.key = key
        key.withUnsafeBytes(lockInMemory)
    }
}

extension DataKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "data key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
