import Crypto
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys that an issuer signs with.
public struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]

    public init(_ document: JSON.Object) {
        keys = (document["keys"]?.array ?? []).compactMap(JSONWebKey.init)
    }

    /// Whether a token of this key id may be checked; without one, any key may fit.
    func contains(_ id: String?) -> Bool { id.map { id in keys.contains { $0.id == id } } ?? !keys.isEmpty }

    /// Whether one of the keys signed `message`.
    func verifies(_ signature: [UInt8], of message: some DataProtocol, algorithm: String, keyID: String?) -> Bool {
        keys.contains { key in
            (keyID == nil || key.id == nil || key.id == keyID)
                && key.verifies(signature, of: message, algorithm: algorithm)
        }
    }
}
