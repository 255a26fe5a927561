import CBaseline
import OAuth

/// The database of a store on a server, without the store.
final class ServerFloor {
    private let server: OpaquePointer
    private var token = BaselineToken()

    /// `settings` is a connection string of libpq.
    init(_ settings: String) throws {
        guard let opened = baseline_server_open(settings) else {
            throw BenchFailure("the floor cannot reach the server")
        }
        server = opened
    }

    deinit { baseline_server_close(server) }

    /// Makes the access tokens of an account ones that the floor can open, and the store cannot.
    func adopt(_ account: Int64) throws {
        guard baseline_server_adopt(server, account) == 1 else {
            throw BenchFailure("the floor cannot seal the tokens of an account")
        }
    }

    /// What a lookup needs beside the account: client, realm, scope.
    static func lookup(_ index: Int) -> CTexts {
        CTexts([SampleAccount.client, SampleAccount.tenant, SampleAccount.scope(index)])
    }

    /// Finds a token; as a store must, it may ask whether the account has signed out.
    func look(_ account: Int64, _ texts: CTexts, asksState: Bool) throws {
        let text = texts.pointers
        let isFound = baseline_server_lookup(server, account, text[0], text[1], text[2], asksState ? 1 : 0, &token)
        guard isFound == 1 else {
            throw BenchFailure("the floor does not find a token")
        }
    }

    /// Remembers the rows that a sign-in of this account has left.
    func learn(_ account: Int64) throws {
        // The tables that a first sign-in writes to, a row after the one it refers to.
        let tables = [
            "account", "tenant_profile", "account_state", "authority_map", "id_token", "claim_index", "access_token",
            "refresh_token", "event",
        ]
        for table in tables {
            guard baseline_server_learn(server, table, table == "account" ? "id" : "account_id", account) == 1 else {
                throw BenchFailure("the floor cannot read the table \(table)")
            }
        }
    }

    /// Writes what it has learnt for another account, in one commit; as a store must, it may ask first what is there.
    func signIn(_ account: Int64, asksFirst: Bool) throws {
        guard baseline_server_sign_in(server, account, asksFirst ? 1 : 0) == 1 else {
            throw BenchFailure("the floor cannot store a sign-in")
        }
    }
}
