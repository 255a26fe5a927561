public import OAuth

/// The keys that an issuer signs with.
public struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]

    public init(_ document: JSON.Object) {
        keys = (document["keys"]?.array ?? []).compactMap(JSONWebKey.init)
    }

    /// Whether none of the keys is one that `token` could be signed with, so that newer ones may be.
    package func isOutdated(for token: IDToken) -> Bool {
        do {
            _ = try signer(of: CompactJWS(token.secret))
            return false
        } catch {
            return error == .unknownKey
        }
    }

    /// The key that signed `token`.
    ///
    /// - Throws: ``IDTokenFlaw``; ``IDTokenFlaw/unknownKey`` where newer keys may fit better.
    func signer(of token: CompactJWS) throws(IDTokenFlaw) -> JSONWebKey {
        let named = token.keyID.map { id in keys.filter { $0.id == id } } ?? []
        // Where nothing is named, on one side or the other, any key may be meant.
        let candidates = named.isEmpty ? keys.filter { token.keyID == nil || $0.id == nil } : named
        var flaw: IDTokenFlaw?
        for key in candidates {
            do {
                if try key.signed(token) { return key }
                flaw = .signature
            } catch {
                flaw = flaw ?? error
            }
        }
        guard !named.isEmpty, let flaw else { throw .unknownKey }
        throw flaw
    }
}
