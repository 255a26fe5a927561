import Crypto

/// The keys that a data key stands for, one for each use, so that no use weakens another (HKDF, RFC 5869).
///
/// A class, so that a copy of a sealer counts one reference and not one for each key.
final class DerivedKeys: Sendable {
    let sealing: SymmetricKey
    let claimName: HMAC<SHA256>
    let claimValue: HMAC<SHA256>
    let refreshToken: HMAC<SHA256>
    let fingerprint: HMAC<SHA256>

    init(of key: DataKey) {
        let extracted = SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: key.key, salt: [UInt8]()))
        func derived(_ use: StaticString) -> SymmetricKey {
            use.withUTF8Buffer {
                HKDF<SHA256>.expand(
                    pseudoRandomKey: extracted,
                    info: UnsafeRawBufferPointer($0),
                    outputByteCount: DataKey.byteCount
                )
            }
        }
        sealing = derived("tokenstore 1 sealed value")
        sealing.withUnsafeBytes(lockInMemory)
        // Primed once: the key schedule is half the cost of a hash.
        claimName = HMAC(key: derived("tokenstore 1 claim name"))
        claimValue = HMAC(key: derived("tokenstore 1 claim value"))
        refreshToken = HMAC(key: derived("tokenstore 1 refresh token"))
        fingerprint = HMAC(key: derived("tokenstore 1 fingerprint"))
    }
}
