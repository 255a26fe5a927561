import CSealing
import Crypto
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// AES-256-GCM under one key, for many values.
///
/// swift-crypto makes the key's schedule anew for each value, and copies the value through several `Data`: two thirds of
/// the time that opening one takes. Where it brings BoringSSL along, that is called directly, with one schedule.
///
/// `@unchecked Sendable`: the schedule is made in `init` and only read until `deinit`, by functions of which BoringSSL
/// says that they may be called concurrently.
final class ValueCipher: @unchecked Sendable {
    private enum Engine {
        /// A key's schedule, for BoringSSL.
        case schedule(OpaquePointer)

        /// The key itself, for swift-crypto's own interface.
        case key(SymmetricKey)
    }

    private let engine: Engine

    convenience init(_ key: SymmetricKey) { self.init(key, makesSchedule: true) }

    /// One that goes through swift-crypto's own interface, as on Apple's systems.
    static func withoutSchedule(_ key: SymmetricKey) -> ValueCipher { ValueCipher(key, makesSchedule: false) }

    private init(_ key: SymmetricKey, makesSchedule: Bool) {
        precondition(key.bitCount == 256, "a key of AES-256 has 32 bytes")
        if makesSchedule, let schedule = key.withUnsafeBytes({ CSealingKeyCreate($0.baseAddress) }) {
            engine = .schedule(schedule)
        } else {
            key.withUnsafeBytes(lockInMemory)
            engine = .key(key)
        }
    }

    deinit {
        if case .schedule(let schedule) = engine { CSealingKeyDestroy(schedule) }
    }

    /// Writes nonce, ciphertext and tag of `plaintext`, which fill `box`.
    func seal(
        _ plaintext: UnsafeRawBufferPointer,
        authenticating associated: UnsafeRawBufferPointer,
        into box: UnsafeMutableRawBufferPointer
    ) throws {
        let (nonce, rest) = (box[..<SealedFormat.nonceCount], box[SealedFormat.nonceCount...])
        Self.fillRandomly(UnsafeMutableRawBufferPointer(rebasing: nonce))
        let sealed = UnsafeMutableRawBufferPointer(rebasing: rest)
        switch engine {
        case .key(let key):
            let made = try AES.GCM.seal(
                plaintext,
                using: key,
                nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: nonce)),
                authenticating: associated
            )
            sealed.copyBytes(from: made.ciphertext + made.tag)
        case .schedule(let schedule):
            let isSealed = CSealingSeal(
                schedule,
                sealed.baseAddress,
                box.baseAddress,
                plaintext.baseAddress,
                plaintext.count,
                associated.baseAddress,
                associated.count
            )
            guard isSealed == 1 else { throw CryptoKitError.incorrectParameterSize }
        }
    }

    /// The plaintext of a `box` of nonce, ciphertext and tag.
    func open(
        _ box: UnsafeRawBufferPointer,
        authenticating associated: UnsafeRawBufferPointer
    ) throws -> Secret {
        switch engine {
        case .key(let key):
            var plaintext = try AES.GCM.open(AES.GCM.SealedBox(combined: box), using: key, authenticating: associated)
            return Secret(moving: &plaintext)
        case .schedule(let schedule):
            let count = box.count - SealedFormat.nonceCount - SealedFormat.tagCount
            guard count >= 0 else { throw CryptoKitError.authenticationFailure }
            return try Secret(byteCount: count) { plaintext in
                let sealed = box.baseAddress.map { $0 + SealedFormat.nonceCount }
                let isOpened = CSealingOpen(
                    schedule,
                    plaintext.baseAddress,
                    box.baseAddress,
                    sealed,
                    count,
                    associated.baseAddress,
                    associated.count
                )
                guard isOpened == 1 else { throw CryptoKitError.authenticationFailure }
            }
        }
    }

    private static func fillRandomly(_ nonce: UnsafeMutableRawBufferPointer) {
        #if !canImport(Darwin)
        // One call of the kernel, where swift-crypto makes two: a sixth of the cost of sealing a value.
        if getentropy(nonce.baseAddress, nonce.count) == 0 { return }
        #endif
        AES.GCM.Nonce().withUnsafeBytes { nonce.copyMemory(from: $0) }
    }
}
