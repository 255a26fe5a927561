import CFloor
import TokenStorage

/// The store's database without the store.
final class Floor {
    private let store: OpaquePointer
    private var token = FloorToken()

    init(_ path: StorePath) throws {
        guard let opened = floor_open(path.database) else {
            throw BenchFailure("the floor cannot open \(path.database)")
        }
        store = opened
    }

    deinit { floor_close(store) }

    /// Makes the access tokens of an account ones that the floor can open, and the store cannot.
    func adopt(_ account: SampleAccount) throws {
        guard floor_adopt(store, account.homeAccountID, SampleAccount.authority) == 1 else {
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
        guard floor_lookup(store, text[0], text[1], text[2], text[3], text[4], &token) == 1 else {
            throw BenchFailure("the floor does not find a token")
        }
    }

    /// Has to be called before signing in, when others have written.
    func expectOthers() { floor_expect_others(store) }

    func signIn(_ signIn: FloorSignIn) throws {
        let claims = signIn.claims.pointers
        guard floor_sign_in(store, signIn.texts.pointers, claims, CInt(claims.count / 2), signIn.now) == 1 else {
            throw BenchFailure("the floor cannot store a sign-in")
        }
    }
}

/// What keeps a measurement from being made.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
