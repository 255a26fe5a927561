import Foundation

/// A user who signed in, as a row of an MSAL cache has it; all of it is made up.
struct CachedUser: Sendable {
    var username: String
    var uid: String
    var tenant = "7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e"
    var policy: String? = "b2c_1_signin"
    var environment = "harbor.b2clogin.com"
    var client = "a0b1c2d3-1111-4222-8333-444455556666"
    var claims: [String: any Sendable] = [:]

    /// When the access tokens end, in seconds from now.
    var lifetimes = [3600]
    var hasRefreshToken = true

    static let mara = CachedUser(
        username: "mara@example.net",
        uid: "3f9a7b52-8c1d-4e60-a2b4-5d6e7f809112",
        claims: ["department": "finance", "roles": ["reader", "admin"], "plan": ["name": "gold"], "level": 7]
    )

    static let ivo = CachedUser(
        username: "ivo@example.org",
        uid: "81c5d9e0-1b2a-4c3d-9e8f-a0b1c2d3e4f5",
        policy: "b2c_1_susi",
        claims: ["department": "legal"],
        lifetimes: [-60]
    )

    /// A user whose provider has no tenants and sent no name.
    static let nameless = CachedUser(
        username: "",
        uid: "nameless",
        tenant: "",
        policy: nil,
        environment: "id.example.net"
    )

    var homeAccountID: String { "\(uid)\(policy.map { "-\($0)" } ?? "").\(tenant)" }
    var issuer: String { "https://\(environment)/\(tenant)/v2.0/" }
    func secret(_ kind: String) -> String { "planted-\(kind)-secret-of-\(username.prefix { $0 != "@" })" }

    /// A compact JWT with an invented signature.
    var idToken: String {
        get throws {
            var payload: [String: any Sendable] = [
                "iss": issuer, "aud": client, "sub": uid, "oid": uid, "tid": tenant, "preferred_username": username,
                "iat": 1_790_000_000, "exp": 1_790_003_600,
            ]
            if let policy { payload["tfp"] = policy }
            payload.merge(claims) { $1 }
            let parts = try [["alg": "none"], payload].map {
                try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys).base64URL
            }
            return parts.joined(separator: ".") + ".c2ln"
        }
    }

    /// An MSAL unified cache of several sign-ins.
    static func cache(_ people: [CachedUser]) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        var buckets: [String: [String: [String: String]]] = [:]
        for person in people {
            let key = "\(person.homeAccountID)-\(person.environment)"
            let common = ["home_account_id": person.homeAccountID, "environment": person.environment]
            let credential = common.merging(["client_id": person.client]) { $1 }
            for (index, lifetime) in person.lifetimes.enumerated() {
                buckets["AccessToken", default: [:]]["\(key)-\(index)"] = credential.merging([
                    "credential_type": "AccessToken", "secret": person.secret("access"), "realm": person.tenant,
                    "target": "tasks.read tasks.write.\(index)", "token_type": "Bearer",
                    "cached_at": "\(now - 7200)", "expires_on": "\(now + lifetime)",
                ]) { $1 }
            }
            if person.hasRefreshToken {
                buckets["RefreshToken", default: [:]][key] = credential.merging([
                    "credential_type": "RefreshToken", "secret": person.secret("refresh"),
                ]) { $1 }
            }
            buckets["IdToken", default: [:]][key] = credential.merging([
                "credential_type": "IdToken", "secret": try person.idToken, "realm": person.tenant,
            ]) { $1 }
            buckets["Account", default: [:]][key] = common.merging([
                "realm": person.tenant, "local_account_id": person.uid, "username": person.username,
                "authority_type": "MSSTS",
            ]) { $1 }
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: buckets), as: UTF8.self)
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
