import Crypto
package import OAuth
import Synchronization

/// Seals values with AES-256-GCM under one data key, and hashes under keys derived from it.
///
/// Each value has its own random nonce; one data key is good for 2^32 values (NIST SP 800-38D, section 8.3).
package struct Sealer: Sendable {
    package let keyID: UInt32
    package let format: SealedFormat
    let keys: DerivedKeys

    /// Derives the keys, which costs more than sealing a value: keep the sealer.
    package init(key: DataKey) {
        keyID = key.id
        format = key.format
        keys = DerivedKeys(of: key)
    }

    /// Whether it seals under this very key, and not under another of the same number.
    package func isOf(_ key: DataKey) -> Bool { keys.isOf(key) }

    package func seal(
        _ secret: Secret,
        as location: SealedLocation,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> [UInt8] {
        try secret.withUnsafeBytes { bytes throws(SealingError) in try seal(bytes, as: location, with: clear) }
    }

    /// Seals a value as `location`, such that it opens only together with `clear`, the clear columns of its row.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer,
        as location: SealedLocation,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> [UInt8] {
        let count = SealedFormat.overhead + plaintext.count
        do {
            return try [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
                format.writeHeader(keyID: keyID, to: bytes)
                let box = UnsafeMutableRawBufferPointer(rebasing: bytes[SealedFormat.headerCount...])
                try location.withAssociatedData(format, keyID: keyID, clear) {
                    try keys.values.seal(plaintext, authenticating: $0, into: box)
                }
                written = count
            }
        } catch {
            throw .valueTooLarge(count: plaintext.count)
        }
    }

    package func open(
        _ sealed: [UInt8],
        as location: SealedLocation,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> Secret {
        try sealed.withUnsafeBufferPointer { bytes throws(SealingError) in
            try open(UnsafeRawBufferPointer(bytes), as: location, with: clear)
        }
    }

    /// The plaintext of `sealed`, which was sealed as `location` with `clear`.
    ///
    /// - Throws: ``SealingError/Code/unknownDataKey`` when another data key sealed it,
    ///   ``SealingError/Code/unknownFormat``, or ``SealingError/Code/damagedValue``.
    package func open(
        _ sealed: UnsafeRawBufferPointer,
        as location: SealedLocation,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> Secret {
        guard let id = SealedFormat.keyID(of: sealed) else {
            if let version = sealed.first, SealedFormat(rawValue: version) == nil {
                throw .unknownFormat(version: version)
            }
            throw .damaged(location)
        }
        guard id == keyID else { throw .unknownDataKey(id) }
        // An older format is bound to less.
        guard sealed[0] == format.rawValue else { throw .damaged(location) }
        do {
            let box = UnsafeRawBufferPointer(rebasing: sealed[SealedFormat.headerCount...])
            return try location.withAssociatedData(format, keyID: keyID, clear) {
                try keys.values.open(box, authenticating: $0)
            }
        } catch {
            throw .damaged(location)
        }
    }

    /// The id of the data key that sealed this, nil if this is not a sealed value of a known format.
    package static func keyID(of sealed: UnsafeRawBufferPointer) -> UInt32? {
        SealedFormat.keyID(of: sealed)
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes.
    package static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

extension Sealer: CustomStringConvertible, CustomReflectable {
    package var description: String { "sealer of data key \(keyID)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Sealer {
    /// The 8-byte keyed hash of a claim's name, for the blind index.
    package func claimNameHash(_ name: String) -> [UInt8] {
        keys.hashes.claimName(name)
    }

    /// The hashes of names that were asked for before: who wants many takes no lock for each.
    package var knownClaimNameHashes: [ExactText: [UInt8]] { keys.hashes.knownNames }

    /// The 16-byte keyed hash of a claim's name and value, for the blind index.
    package func claimValueHash(name: String, value: String) -> [UInt8] {
        // In one piece, as each part of a claim is short.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + name.utf8.count + value.utf8.count)
        bytes.append(bigEndian: UInt32(name.utf8.count))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
        return bytes.withUnsafeBytes { keys.hashes.claimValue.code(of: $0, count: 16) }
    }

    /// 8 bytes by which the record of use names a refresh token.
    package func fingerprint(_ secret: Secret) -> [UInt8] {
        secret.withUnsafeBytes { keys.hashes.refreshToken.code(of: $0, count: 8) }
    }

    /// A 16-byte keyed hash of `bytes`; each label gives an unrelated hash.
    package func fingerprint(of bytes: UnsafeRawBufferPointer, label: String) -> [UInt8] {
        var labelled: [UInt8] = []
        labelled.append(bigEndian: UInt32(label.utf8.count))
        labelled.append(contentsOf: label.utf8)
        labelled.append(contentsOf: bytes)
        return labelled.withUnsafeBytes { keys.hashes.fingerprint.code(of: $0, count: 16) }
    }
}

/// The keys derived from a data key, one for each use, so that no use weakens another (HKDF, RFC 5869).
///
/// A class, so that a copy of a sealer counts one reference and not one for each key.
final class DerivedKeys: Sendable {
    let values: ValueCipher
    private let key: DataKey
    private let kept = AtomicLazyReference<HashKeys>()

    init(of key: DataKey) {
        self.key = key
        values = ValueCipher(Self.derived("tokenstore 1 sealed value", from: key))
    }

    func isOf(_ other: DataKey) -> Bool { key.key == other.key }

    /// Derived at the first use: a lookup needs none of them.
    var hashes: HashKeys { kept.load() ?? kept.storeIfNil(HashKeys(of: key)) }

    static func derived(_ use: StaticString, from key: DataKey) -> SymmetricKey {
        use.withUTF8Buffer {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key.key,
                info: UnsafeRawBufferPointer($0),
                outputByteCount: DataKey.byteCount
            )
        }
    }
}
