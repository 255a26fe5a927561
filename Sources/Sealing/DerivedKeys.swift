import Crypto
import OAuth
import Synchronization

/// The keys that a data key stands for, one for each use, so that no use weakens another (HKDF, RFC 5869).
///
/// A class, so that a copy of a sealer counts one reference and not one for each key.
final class DerivedKeys: Sendable {
    let sealing: SymmetricKey
    private let key: DataKey
    private let kept = AtomicLazyReference<HashKeys>()

    init(of key: DataKey) {
        self.key = key
        sealing = Self.derived("tokenstore 1 sealed value", from: Self.extracted(from: key))
        sealing.withUnsafeBytes(lockInMemory)
    }

    /// Derived at the first use: a lookup needs none of them.
    var hashes: HashKeys {
        kept.load() ?? kept.storeIfNil(HashKeys(from: Self.extracted(from: key)))
    }

    private static func extracted(from key: DataKey) -> SymmetricKey {
        SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: key.key, salt: [UInt8]()))
    }

    fileprivate static func derived(_ use: StaticString, from extracted: SymmetricKey) -> SymmetricKey {
        use.withUTF8Buffer {
            HKDF<SHA256>.expand(
                pseudoRandomKey: extracted,
                info: UnsafeRawBufferPointer($0),
                outputByteCount: DataKey.byteCount
            )
        }
    }
}

/// The keys of the blind index and of fingerprints.
final class HashKeys: Sendable {
    let claimValue: HMAC<SHA256>
    let refreshToken: HMAC<SHA256>
    let fingerprint: HMAC<SHA256>
    private let claimName: HMAC<SHA256>

    /// The hashes of the names of claims, which are the same few in every ID token.
    private let names = Guarded<[String: [UInt8]]>([:])
    private static let nameLimit = 256

    init(from extracted: SymmetricKey) {
        // Primed once: the key schedule is half the cost of a hash.
        func key(_ use: StaticString) -> HMAC<SHA256> { HMAC(key: DerivedKeys.derived(use, from: extracted)) }
        claimName = key("tokenstore 1 claim name")
        claimValue = key("tokenstore 1 claim value")
        refreshToken = key("tokenstore 1 refresh token")
        fingerprint = key("tokenstore 1 fingerprint")
    }

    /// What `make` makes of a name with its key, kept for the next token.
    func hash(ofName name: String, _ make: (HMAC<SHA256>) -> [UInt8]) -> [UInt8] {
        if let known = names.withLock({ $0[name] }) { return known }
        let hash = make(claimName)
        names.withLock { names in
            if names.count >= Self.nameLimit { names = [:] }
            names[name] = hash
        }
        return hash
    }
}
