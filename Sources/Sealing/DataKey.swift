import Crypto
package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

/// What wraps data keys.
///
/// A wrapped key is: version (the format of its values, or 3), 4 bytes data key id, 8 bytes key-encryption key id,
/// nonce, ciphertext, tag.
package struct KeyEncryptionKey: Sendable {
    package static let byteCount = 32
    /// 16 hexadecimal digits that name the key and reveal nothing of it.
    package let id: String
    private let idBytes: [UInt8]
    private let wrapping: SymmetricKey

    /// The key of these 32 bytes.
    package init(bytes: Secret) {
        precondition(bytes.count == Self.byteCount, "a key-encryption key has 32 bytes")
        let key = bytes.withUnsafeBytes { SymmetricKey(data: $0) }
        func derived(_ use: String, count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(use.utf8), outputByteCount: count)
        }
        wrapping = derived("tokenstore 1 wrap", count: DataKey.byteCount)
        wrapping.withUnsafeBytes(lockInMemory)
        idBytes = derived("tokenstore 1 id", count: 8).withUnsafeBytes { Array($0) }
        id = idBytes.hexadecimal
    }

    /// A new key from the kernel's randomness.
    package static func random() -> KeyEncryptionKey { KeyEncryptionKey(bytes: .random(count: byteCount)) }

    /// `key`, sealed for the store `storeID`.
    package func wrap(_ key: DataKey, storeID: [UInt8]) throws(SealingError) -> [UInt8] {
        let header = header(Self.version(of: key), keyID: key.id)
        do {
            let box = try key.key.withUnsafeBytes {
                try AES.GCM.seal($0, using: wrapping, authenticating: header + storeID)
            }
            guard let combined = box.combined else { preconditionFailure("a nonce of 12 bytes is combined") }
            return header + combined
        } catch {
            throw .valueTooLarge(count: DataKey.byteCount)
        }
    }

    /// The data key `id` of the store `storeID`; `isNamed`: whether `wrapped` has to name this key, as it always does
    /// unless it is damaged.
    ///
    /// - Throws: ``SealingError/Code/otherKey`` when another key wrapped it,
    ///   ``SealingError/Code/unknownFormat``, or ``SealingError/Code/damagedDataKey`` when it is damaged or of
    ///   another store.
    package func unwrap(
        _ wrapped: [UInt8],
        id: UInt32,
        storeID: [UInt8],
        isNamed: Bool = true
    ) throws(SealingError) -> DataKey {
        let version = wrapped.first ?? SealedFormat.bound.rawValue
        let isReplacing = version == Self.replacingVersion
        guard let format = isReplacing ? .bound : SealedFormat(rawValue: version) else {
            throw .unknownFormat(version: version)
        }
        let header = header(version, keyID: id)
        let overhead = header.count + SealedFormat.nonceCount + SealedFormat.tagCount
        let prefix = header.prefix(SealedFormat.headerCount)
        guard wrapped.count == overhead + DataKey.byteCount, wrapped.starts(with: prefix) else {
            throw .damagedDataKey(id)
        }
        let wanted = wrapped[SealedFormat.headerCount..<header.count]
        guard !isNamed || wanted.elementsEqual(idBytes) else {
            throw .otherKey(wanted: wanted.hexadecimal, found: self.id)
        }
        do {
            let box = try AES.GCM.SealedBox(combined: wrapped[header.count...])
            var plaintext = try AES.GCM.open(box, using: wrapping, authenticating: header + storeID)
            return DataKey(id: id, format: format, replacesOlder: isReplacing, bytes: Secret(moving: &plaintext))
        } catch {
            throw .damagedDataKey(id)
        }
    }

    /// Of a key that takes the place of one whose values are bound to less.
    ///
    /// It is authenticated, so that an old key cannot be put back beside the one that took its place.
    private static let replacingVersion: UInt8 = 3

    private static func version(of key: DataKey) -> UInt8 {
        key.replacesOlder ? replacingVersion : key.format.rawValue
    }

    private func header(_ version: UInt8, keyID: UInt32) -> [UInt8] {
        var header = [version]
        header.append(bigEndian: keyID)
        header.append(contentsOf: idBytes)
        return header
    }
}

extension KeyEncryptionKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
