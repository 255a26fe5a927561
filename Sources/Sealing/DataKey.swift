import Crypto
package import OAuth

/// A 256-bit key that seals values, with the id by which sealed values name it.
package struct DataKey: Sendable {
    package static let byteCount = 32

    package let id: UInt32
    let key: SymmetricKey

    /// A new key from the kernel's randomness.
    package init(id: UInt32) {
        self.init(id: id, key: SymmetricKey(size: .bits256))
    }

    /// The key of these 32 bytes.
    package init(id: UInt32, bytes: Secret) {
        self.init(id: id, key: bytes.withUnsafeBytes { SymmetricKey(data: $0) })
    }

    init(id: UInt32, key: SymmetricKey) {
        precondition(key.bitCount == Self.byteCount * 8, "a data key has 32 bytes")
        self.id = id
        self.key = key
        key.withUnsafeBytes(lockInMemory)
    }
}

extension DataKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "data key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
