import Crypto
package import OAuth

/// A 256-bit key that seals values, with the id by which sealed values name it.
package struct DataKey: Sendable {
    package static let byteCount = 32

    package let id: UInt32

    /// The one format of values under this key.
    package let format: SealedFormat
    let key: SymmetricKey

    /// A new key from the kernel's randomness.
    package init(id: UInt32, format: SealedFormat = .bound) {
        self.init(id: id, format: format, key: SymmetricKey(size: .bits256))
    }

    /// The key of these 32 bytes.
    package init(id: UInt32, format: SealedFormat = .bound, bytes: Secret) {
        self.init(id: id, format: format, key: bytes.withUnsafeBytes { SymmetricKey(data: $0) })
    }

    private init(id: UInt32, format: SealedFormat, key: SymmetricKey) {
        precondition(key.bitCount == Self.byteCount * 8, "a data key has 32 bytes")
        self.id = id
        self.format = format
        self.key = key
    }
}

extension DataKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "data key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
