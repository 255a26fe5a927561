import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A made-up MSAL unified cache, as MSAL Python would write it.
struct MSALDocument {
    let accounts: Range<Int>

    /// How many access tokens each account has.
    var accessTokens = 1

    /// The text in UTF-8.
    var bytes: [UInt8] {
        let now = Int64(Date().timeIntervalSince1970)
        var document: [UInt8] = []
        document.reserveCapacity(accounts.count * (4_400 + 2_400 * accessTokens))
        document.append(contentsOf: "{".utf8)
        write("AccessToken", to: &document) { account, entries in
            for index in 0..<accessTokens { entries.append(Self.accessToken(account, index, now)) }
        }
        write("RefreshToken", to: &document) { $1.append(Self.refreshToken($0, now)) }
        write("IdToken", to: &document) { $1.append(Self.idToken($0)) }
        write("Account", to: &document) { $1.append(Self.account($0)) }
        let client = SampleAccount.client
        document.append(
            contentsOf: """
                "AppMetadata":{"appmetadata-\(SampleAccount.environment)-\(client)":\
                {"client_id":"\(client)","environment":"\(SampleAccount.environment)"}}}
                """.utf8
        )
        return document
    }

    private func write(
        _ bucket: String,
        to document: inout [UInt8],
        _ entries: (SampleAccount, inout [(key: String, fields: String)]) -> Void
    ) {
        document.append(contentsOf: "\"\(bucket)\":{".utf8)
        var isFirst = true
        for number in accounts {
            var written: [(key: String, fields: String)] = []
            entries(SampleAccount(number), &written)
            for entry in written {
                if !isFirst { document.append(UInt8(ascii: ",")) }
                isFirst = false
                document.append(contentsOf: "\n\"\(entry.key)\":{\(entry.fields)}".utf8)
            }
        }
        document.append(contentsOf: "},".utf8)
    }

    private static func identity(_ account: SampleAccount) -> String {
        """
        "home_account_id": "\(account.homeAccountID)", "environment": "\(SampleAccount.environment)", \
        "client_id": "\(SampleAccount.client)"
        """
    }

    private static func accessToken(_ account: SampleAccount, _ index: Int, _ now: Int64) -> (String, String) {
        let target = SampleAccount.scope(index) + " openid profile"
        let key = key(account, "accesstoken", target)
        let fields = """
            "credential_type": "AccessToken", "secret": "\(account.accessToken(index))", \(identity(account)), \
            "target": "\(target)", "realm": "\(SampleAccount.tenant)", "token_type": "Bearer", \
            "cached_at": "\(now)", "expires_on": "\(now + 86_400)", "extended_expires_on": "\(now + 86_400)"
            """
        return (key, fields)
    }

    private static func refreshToken(_ account: SampleAccount, _ now: Int64) -> (String, String) {
        let target = SampleAccount.scope(0) + " openid profile"
        let fields = """
            "credential_type": "RefreshToken", "secret": "\(account.refreshToken)", \(identity(account)), \
            "target": "\(target)", "last_modification_time": "\(now)"
            """
        return (key(account, "refreshtoken", target), fields)
    }

    private static func idToken(_ account: SampleAccount) -> (String, String) {
        let fields = """
            "credential_type": "IdToken", "secret": "\(account.idToken)", \(identity(account)), \
            "realm": "\(SampleAccount.tenant)"
            """
        return (key(account, "idtoken", ""), fields)
    }

    private static func account(_ account: SampleAccount) -> (String, String) {
        let key = "\(account.homeAccountID)-\(SampleAccount.environment)-\(SampleAccount.tenant)"
        let fields = """
            "home_account_id": "\(account.homeAccountID)", "environment": "\(SampleAccount.environment)", \
            "realm": "\(SampleAccount.tenant)", "local_account_id": "\(account.uid)", \
            "username": "\(account.username)", "authority_type": "MSSTS", "name": "\(account.name)"
            """
        return (key, fields)
    }

    private static func key(_ account: SampleAccount, _ type: String, _ target: String) -> String {
        "\(account.homeAccountID)-\(SampleAccount.environment)-\(type)-\(SampleAccount.client)-"
            + "\(SampleAccount.tenant)-\(target)"
    }
}

/// Texts that are the same in every run.
struct RandomText: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// Text over the base64url alphabet.
    mutating func token(count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { buffer in
            var bits: UInt64 = 0
            for index in 0..<count {
                if index % 10 == 0 { bits = next() }
                buffer[index] = Self.alphabet[Int(bits & 63)]
                bits >>= 6
            }
            return count
        }
    }

    mutating func guid() -> String {
        var text = ""
        for (index, group) in [8, 4, 4, 4, 12].enumerated() {
            if index > 0 { text += "-" }
            for _ in 0..<group { text.append(String(next() & 15, radix: 16)) }
        }
        return text
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
