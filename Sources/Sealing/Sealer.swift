import Crypto
package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

    package func seal(
        _ secret: Secret,
        as place: SealedPlace,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> [UInt8] {
        try secret.withUnsafeBytes { bytes throws(SealingError) in try seal(bytes, as: place, with: clear) }
    }

    /// Seals a value as `place`, such that it opens only together with `clear`, the clear columns of its row.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer,
        as place: SealedPlace,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> [UInt8] {
        let body: Data
        do {
            let box = try place.withAssociatedData(format, keyID: keyID, clear) {
                try AES.GCM.seal(plaintext, using: keys.sealing, nonce: SealedFormat.nonce(), authenticating: $0)
            }
            guard let combined = box.combined else { preconditionFailure("a nonce of 12 bytes is combined") }
            body = combined
        } catch {
            throw .valueTooLarge(count: plaintext.count)
        }
        return [UInt8](unsafeUninitializedCapacity: SealedFormat.headerCount + body.count) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            format.writeHeader(keyID: keyID, to: bytes)
            body.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: bytes[SealedFormat.headerCount...]).copyMemory(from: $0)
            }
            count = SealedFormat.headerCount + body.count
        }
    }

    package func open(
        _ sealed: [UInt8],
        as place: SealedPlace,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> Secret {
        try sealed.withUnsafeBufferPointer { bytes throws(SealingError) in
            try open(UnsafeRawBufferPointer(bytes), as: place, with: clear)
        }
    }

    /// The plaintext of `sealed`, which was sealed as `place` with `clear`.
    ///
    /// - Throws: ``SealingError/unknownDataKey(_:)`` when another data key sealed it,
    ///   ``SealingError/unknownFormat(version:)``, or ``SealingError/damagedValue(table:column:row:)``.
    package func open(
        _ sealed: UnsafeRawBufferPointer,
        as place: SealedPlace,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws(SealingError) -> Secret {
        guard let id = SealedFormat.keyID(of: sealed) else {
            if let version = sealed.first, SealedFormat(rawValue: version) == nil {
                throw .unknownFormat(version: version)
            }
            throw .damaged(place)
        }
        guard id == keyID else { throw .unknownDataKey(id) }
        // An older format is bound to less.
        guard sealed[0] == format.rawValue else { throw .damaged(place) }
        do {
            let body = UnsafeRawBufferPointer(rebasing: sealed[SealedFormat.headerCount...])
            let box = try AES.GCM.SealedBox(combined: body)
            var plaintext = try place.withAssociatedData(format, keyID: keyID, clear) {
                try AES.GCM.open(box, using: keys.sealing, authenticating: $0)
            }
            return Secret(moving: &plaintext)
        } catch {
            throw .damaged(place)
        }
    }

    /// The id of the data key that sealed this, nil if this is no sealed value of a known format.
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
