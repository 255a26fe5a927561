import CSealing
import Crypto
import OAuth
import Synchronization

/// The keys of the blind index and of fingerprints.
final class HashKeys: Sendable {
    let claimValue: KeyedHash
    let refreshToken: KeyedHash
    let fingerprint: KeyedHash
    private let claimName: KeyedHash

    /// The hashes of the names of claims, which are the same few in every ID token.
    private let names = LockedValue<[ExactText: [UInt8]]>([:])
    private static let nameLimit = 256

    init(of key: DataKey) {
        func hash(_ use: StaticString) -> KeyedHash { KeyedHash(DerivedKeys.derived(use, from: key)) }
        claimName = hash("tokenstore 1 claim name")
        claimValue = hash("tokenstore 1 claim value")
        refreshToken = hash("tokenstore 1 refresh token")
        fingerprint = hash("tokenstore 1 fingerprint")
    }

    var knownNames: [ExactText: [UInt8]] { names.withLock(\.self) }

    /// The 8-byte hash of a claim's name, kept for the next token.
    func claimName(_ name: String) -> [UInt8] {
        let key = ExactText(name)
        if let known = names.withLock({ $0[key] }) { return known }
        var text = name
        let hash = text.withUTF8 { claimName.code(of: UnsafeRawBufferPointer($0), count: 8) }
        names.withLock { names in
            if names.count >= Self.nameLimit { names = [:] }
            names[key] = hash
        }
        return hash
    }
}

/// HMAC with SHA-256 under one key, for many values ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)).
///
/// A sign-in hashes each of its claims. Through swift-crypto's own interface that took 6,100 instructions for each, most
/// of them around the hash itself. Where it brings BoringSSL along, that is called directly.
///
/// `@unchecked Sendable`: the key's blocks are hashed in `init` and only read until `deinit`.
final class KeyedHash: @unchecked Sendable {
    private enum Engine {
        /// The hash of the key's blocks, for BoringSSL.
        case state(OpaquePointer)

        /// The same, for swift-crypto's own interface.
        case code(HMAC<SHA256>)
    }

    private let engine: Engine

    convenience init(_ key: SymmetricKey) { self.init(key, isDirect: true) }

    /// One that goes through swift-crypto's own interface, as on Apple's systems.
    static func indirect(_ key: SymmetricKey) -> KeyedHash { KeyedHash(key, isDirect: false) }

    private init(_ key: SymmetricKey, isDirect: Bool) {
        if isDirect, let state = key.withUnsafeBytes({ CSealingHashCreate($0.baseAddress, $0.count) }) {
            engine = .state(state)
        } else {
            engine = .code(HMAC(key: key))
        }
    }

    deinit {
        if case .state(let state) = engine { CSealingHashDestroy(state) }
    }

    /// The first `count` bytes, at most 32, of the code of `bytes`.
    func code(of bytes: UnsafeRawBufferPointer, count: Int) -> [UInt8] {
        switch engine {
        case .state(let state):
            return [UInt8](unsafeUninitializedCapacity: count) { code, written in
                CSealingHashBytes(state, code.baseAddress, count, bytes.baseAddress, bytes.count)
                written = count
            }
        case .code(var code):
            code.update(data: bytes)
            return code.finalize().withUnsafeBytes { [UInt8]($0.prefix(count)) }
        }
    }
}
