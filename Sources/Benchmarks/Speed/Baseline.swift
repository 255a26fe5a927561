import CBaseline
import OAuth
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The store's database without the store.
final class Baseline {
    private let store: OpaquePointer
    private var token = BaselineToken()

    init(_ path: StorePath) throws {
        guard let opened = baseline_open(path.database) else {
            throw BenchFailure("the floor cannot open \(path.database)")
        }
        store = opened
    }

    deinit { baseline_close(store) }

    /// Makes the access tokens of an account ones that the floor can open, and the store cannot.
    func adopt(_ account: SampleAccount) throws {
        guard baseline_adopt(store, account.homeAccountID, SampleAccount.authority) == 1 else {
            throw BenchFailure("the floor cannot seal the tokens of an account")
        }
    }

    /// What a lookup needs: home account, authority, client, realm, scope.
    static func lookup(of account: SampleAccount, _ index: Int) -> CTexts {
        CTexts([
            account.homeAccountID, SampleAccount.authority, SampleAccount.client, SampleAccount.tenant,
            SampleAccount.scope(index),
        ])
    }

    func look(_ texts: CTexts) throws {
        let text = texts.pointers
        guard baseline_lookup(store, text[0], text[1], text[2], text[3], text[4], &token) == 1 else {
            throw BenchFailure("the floor does not find a token")
        }
    }

    /// Call it before a sign-in if others have written.
    func expectOthers() { baseline_expect_others(store) }

    func signIn(_ signIn: BaselineSignIn) throws {
        let claims = signIn.claims.pointers
        guard baseline_sign_in(store, signIn.texts.pointers, claims, CInt(claims.count / 2), signIn.now) == 1 else {
            throw BenchFailure("the floor cannot store a sign-in")
        }
    }
}

/// What keeps a measurement from being made.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The texts of the rows that the store writes for a first sign-in, worked out before the clock runs.
///
/// The store reads them out of the response while the clock runs; the floor does not.
struct BaselineSignIn {
    let texts: CTexts

    /// Names and values in turn.
    let claims: CTexts
    let now: Int64

    init(_ account: SampleAccount, now: Int64) {
        self.now = now
        let profile = """
            {"name":"\(account.name)","client_info":"\(account.clientInfo)","account_source":"authorization_code"}
            """
        // In the order of the enumeration in BaselineStore.h.
        texts = CTexts([
            SampleAccount.authority, account.homeAccountID, account.uid, SampleAccount.tenant,
            SampleAccount.environment, "https://\(SampleAccount.environment)/\(SampleAccount.tenant)/v2.0",
            account.username, account.name, SampleAccount.client, SampleAccount.tenant, account.uid,
            "\(SampleAccount.scope(0)) openid profile", SampleAccount.scope(0), profile, account.idToken,
            account.refreshToken, account.accessToken(0),
        ])
        let unindexed: Set = ["iat", "nbf", "exp"]
        claims = CTexts(
            account.claims.filter { !unindexed.contains($0.name) }.flatMap { name, value -> [String] in
                guard value.hasPrefix("[") else { return [name, value] }
                return value.dropFirst().dropLast().split(separator: ",").flatMap { [name, String($0)] }
            }
        )
    }
}

/// Texts as C wants them, made before the clock runs.
final class CTexts {
    let pointers: [UnsafePointer<CChar>?]

    init(_ texts: [String]) { pointers = texts.map { text in strdup(text).map { UnsafePointer($0) } } }

    /// What C takes for a list of texts: a null at its end.
    var vector: [UnsafeMutablePointer<CChar>?] { pointers.map { UnsafeMutablePointer(mutating: $0) } + [nil] }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }
}
