import Crypto
import OAuth

/// What keeps apart access tokens that are equal in everything a lookup names: the claims they were minted for, and
/// partitions that other programs put into their caches.
struct TokenVariant {
    /// Empty for an ordinary token, else a hash.
    let text: String

    init(requestedClaims: JSON?) {
        self.init(parts: requestedClaims.map { ["requested_claims": $0] } ?? [:])
    }

    /// Of an imported row.
    init(of entity: JSON.Object) {
        var parts: [String: JSON] = [:]
        for name in ["user_assertion_hash", "ext_cache_key", "application_cache_identifier", "requested_claims"] {
            guard let value = entity[name]?.text, !value.isEmpty else { continue }
            // Requested claims are JSON inside text; other text stands for itself.
            parts[name] = (try? JSON(parsing: value)) ?? .string(value)
        }
        self.init(parts: parts)
    }

    private init(parts: [String: JSON]) {
        guard !parts.isEmpty else {
            text = ""
            return
        }
        let members = parts.map { (name: $0.key, value: $0.value) }
        let canonical = JSON.object(.init(members)).canonical.serialized
        text = Base64URL.encode(SHA256.hash(data: Array(canonical.utf8)).prefix(16))
    }
}
