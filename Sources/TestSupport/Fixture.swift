public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The moment, the clients, the hosts and the people that the tests of rules C01 to C92 share.
public enum Fixture {
    public static let now: Int64 = 1_790_000_000

    /// The moment so many seconds after ``now``.
    public static func date(_ seconds: Int64 = 0) -> Date { Date(unixSeconds: now + seconds) }
    public static let client = "cid"
    public static let secondClient = "cid2"
    public static let host = "login.microsoftonline.com"
    public static let aliasHost = "sts.windows.net"
    public static let b2cHost = "harbor.b2clogin.com"
    public static let home = "u1.t1"
    public static let b2cHome = "o1-b2c_1_signin.t9"

    /// The account of `home` at the public cloud.
    public static let account = Account.ID(issuer: "login.windows.net", homeAccountID: home)

    /// The account of `b2cHome` at the B2C host.
    public static let b2cAccount = Account.ID(issuer: b2cHost, homeAccountID: b2cHome)

    public static func authority(_ text: String = "https://login.microsoftonline.com/t1") throws -> Authority {
        try Authority(parsing: text)
    }

    /// `client_info` as the token endpoint sends it.
    public static func clientInfo(_ uid: String, _ utid: String) -> String {
        let info: JSONValue = ["uid": .string(uid), "utid": .string(utid)]
        return Base64URL.encode(info.serialized.utf8)
    }

    /// A compact JWT with a signature that is not checked.
    public static func idToken(_ claims: JSONValue) -> String {
        let header: JSONValue = ["alg": "none", "typ": "JWT"]
        return [header, claims].map { Base64URL.encode($0.serialized.utf8) }.joined(separator: ".") + ".c2ln"
    }

    /// The claims of the default user, with others in their place or beside them.
    public static func claims(_ others: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        let claims: JSONValue = [
            "iss": "https://login.microsoftonline.com/t1/v2.0", "aud": "cid", "sub": "s1", "oid": "u1", "tid": "t1",
            "preferred_username": "ada@example.net", "name": "Ada", "iat": 1_789_999_990, "exp": 1_790_003_590,
        ]
        return claims.with(others)
    }
}

extension JSONValue {
    /// The object with members added, replaced, or (where the value is nil) taken away.
    public func with(_ changes: KeyValuePairs<String, JSONValue>, without names: String...) -> JSONValue {
        var object = self.object ?? JSONValue.Object()
        for (name, value) in changes { object[name] = value }
        for name in names { object[name] = nil }
        return .object(object)
    }

    /// The member of an object, null if there is none.
    public subscript(_ name: String) -> JSONValue { object?[name] ?? .null }
}
