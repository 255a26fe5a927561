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
    let keys: DerivedKeys

    /// Derives the keys, which costs more than sealing a value: keep the sealer.
    package init(key: DataKey) {
        keyID = key.id
        keys = DerivedKeys(of: key)
    }

    package func seal(_ secret: Secret, as place: SealedPlace) throws(SealingError) -> [UInt8] {
        try secret.withUnsafeBytes { bytes throws(SealingError) in try seal(bytes, as: place) }
    }

    package func seal(_ plaintext: UnsafeRawBufferPointer, as place: SealedPlace) throws(SealingError) -> [UInt8] {
        let body: Data
        do {
            let box = try place.withAssociatedData(keyID: keyID) {
                try AES.GCM.seal(plaintext, using: keys.sealing, nonce: SealedFormat.nonce(), authenticating: $0)
            }
            guard let combined = box.combined else { preconditionFailure("a nonce of 12 bytes is combined") }
            body = combined
        } catch {
            throw .valueTooLarge(count: plaintext.count)
        }
        return [UInt8](unsafeUninitializedCapacity: SealedFormat.headerCount + body.count) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            SealedFormat.writeHeader(keyID: keyID, to: bytes)
            body.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: bytes[SealedFormat.headerCount...]).copyMemory(from: $0)
            }
            count = SealedFormat.headerCount + body.count
        }
    }

    package func open(_ sealed: [UInt8], as place: SealedPlace) throws(SealingError) -> Secret {
        try sealed.withUnsafeBufferPointer { bytes throws(SealingError) in
            try open(UnsafeRawBufferPointer(bytes), as: place)
        }
    }

    /// The plaintext of `sealed`, which was sealed as `place`.
    ///
    /// - Throws: ``SealingError/unknownDataKey(_:)`` when another data key sealed it,
    ///   ``SealingError/unknownFormat(version:)``, or ``SealingError/damagedValue(table:column:row:)``.
    package func open(_ sealed: UnsafeRawBufferPointer, as place: SealedPlace) throws(SealingError) -> Secret {
        guard let id = SealedFormat.keyID(of: sealed) else {
            if let version = sealed.first, version != SealedFormat.version { throw .unknownFormat(version: version) }
            throw .damaged(place)
        }
        guard id == keyID else { throw .unknownDataKey(id) }
        do {
            let body = UnsafeRawBufferPointer(rebasing: sealed[SealedFormat.headerCount...])
            let box = try AES.GCM.SealedBox(combined: body)
            var plaintext = try place.withAssociatedData(keyID: keyID) {
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

extension Sealer: CustomStringConvertible, CustomReflectable {
    package var description: String { "sealer of data key \(keyID)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
