import CSQLite
import Database
import Foundation
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Promise 10: what concerns one account is found by an index.
@Suite(.aboutFiles("the plans are those of SQLite; ServerPlanTests has the others"))
struct QueryPlanTests {
    /// The statements that a connection runs.
    private final class Trace {
        var statements: Set<String> = []

        func attach(to connection: Connection) {
            sqlite3_trace_v2(
                connection.sqlite.handle,
                UInt32(SQLITE_TRACE_STMT),
                { _, context, statement, _ in
                    guard let context, let sql = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
                    let trace = Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue()
                    trace.statements.insert(String(cString: sql))
                    return 0
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }

        func detach(from connection: Connection) { sqlite3_trace_v2(connection.sqlite.handle, 0, nil, nil) }
    }

    /// The steps of the plans of `statements` that go through a whole table.
    private func scans(_ statements: Set<String>, on connection: Connection) throws -> [String] {
        var scans: [String] = []
        // What an index may have lost is looked for in small files on purpose.
        let planned = statements.filter { !$0.contains("NOT INDEXED") }
        for sql in planned where ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(where: sql.hasPrefix) {
            try connection.prepare("EXPLAIN QUERY PLAN " + sql).forEach([]) { row in
                let step = row.text(3)
                // A store has one data key, and two while a rekey is under way.
                let isTableScan =
                    !step.hasSuffix("data_key") && step.hasPrefix("SCAN ") && !step.contains("CONSTANT ROW")
                    && !step.contains("subquery")
                if isTableScan { scans.append("\(step): \(sql)") }
                return true
            }
        }
        return scans
    }

    private func reading(_ fixture: TestStore, _ body: () throws -> Void) throws -> [String] {
        let trace = Trace()
        // The pool hands the same connection out again, so that what is traced here is what `body` uses.
        try fixture.store.read { trace.attach(to: $0.connection) }
        try body()
        return try fixture.store.read { session in
            trace.detach(from: session.connection)
            #expect(trace.statements.count > 0)
            return try scans(trace.statements, on: session.connection)
        }
    }

    private func writing(_ fixture: TestStore, _ body: () throws -> Void) throws -> [String] {
        let trace = Trace()
        try fixture.store.withWriter { trace.attach(to: $0.connection) }
        try body()
        return try fixture.store.withWriter { session in
            trace.detach(from: session.connection)
            #expect(trace.statements.count > 5)
            return try scans(trace.statements, on: session.connection)
        }
    }

    @Test func `a lookup of tokens scans no table`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1"), .accessToken("b", "s2", expiresIn: -10)))
        let scans = try reading(fixture) {
            _ = try fixture.request("s1")
            _ = try fixture.request("s2", at: "https://login.microsoftonline.com/common")
            _ = try fixture.store.idTokens(of: Fixture.account, client: "cid")
            _ = try fixture.store.signInState(of: Fixture.account, client: "cid")
            _ = try fixture.store.refreshTokens(of: Fixture.account, client: "cid", family: "1")
            _ = try fixture.store.isFillingFromCopy()
        }
        #expect(scans == [])
    }

    @Test(
        arguments: [
            .username("ada@example.net"), .homeAccountID("u1.t1"), .localAccountID("u1"), .identifier("u1.t1"),
            .userFlow("b2c_1_x"), .tenant("t1"), .claim("name", equals: "Ada"), .claim("name"),
        ] as [AccountPolicy]
    )
    func `finding an account scans no table`(policy: AccountPolicy) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let scans = try reading(fixture) { _ = try fixture.store.accounts(matching: policy) }
        #expect(scans == [])
    }

    /// A sign-out asks for those of each client, of which an account may have thousands.
    @Test func `the refresh tokens of a client are found by the client`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let trace = Trace()
        try fixture.store.read { trace.attach(to: $0.connection) }
        #expect(try fixture.store.refreshTokens(of: Fixture.account, client: "cid").count == 1)
        let steps = try fixture.store.read { session in
            trace.detach(from: session.connection)
            let statement = try #require(trace.statements.first { $0.contains("FROM refresh_token") })
            return try session.connection.prepare("EXPLAIN QUERY PLAN " + statement).all([]) { $0.text(3) }
        }
        #expect(steps.contains { $0.contains("(account_id=? AND client_fold=?)") })
    }

    @Test func `saving, refreshing and removing scan no table`() throws {
        let fixture = try TestStore()
        let scans = try writing(fixture) {
            try fixture.signIn(.signIn(["foci": "1"]))
            try fixture.refresh(.new(["refresh_token": "r2", "scope": "s1"]))
            try fixture.store.removeRefreshToken(fixture.currentRefreshToken())
            try fixture.store.removeAccount(Fixture.account, client: "cid")
            try fixture.store.removeAccount(Fixture.account)
        }
        #expect(scans == [])
    }

    @Test func `importing scans no table`() throws {
        let fixture = try TestStore()
        let document = JSONValue.standardCache(.accessToken("a", "s1"), ["foo": "bar"]).with(["Private": ["k": "v"]])
        let scans = try writing(fixture) { try fixture.take(document) }
        // Quarantined entries are read once for any document.
        #expect(scans.count { $0.contains("FROM foreign_entry") } <= 1)
        #expect(scans.filter { !$0.contains("FROM foreign_entry") } == [])
    }

    /// The steps that SQLite takes for the statements of a connection.
    private final class Steps {
        var count = 0

        func attach(to connection: Connection) {
            sqlite3_trace_v2(
                connection.sqlite.handle,
                UInt32(SQLITE_TRACE_PROFILE),
                { _, context, statement, _ in
                    guard let context, let statement else { return 0 }
                    let steps = Unmanaged<Steps>.fromOpaque(context).takeUnretainedValue()
                    steps.count += Int(sqlite3_stmt_status(OpaquePointer(statement), SQLITE_STMTSTATUS_VM_STEP, 1))
                    return 0
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
    }

    @Test(arguments: ["AccessToken", "RefreshToken"])
    func `an import of many tokens of one account takes no more steps for each`(bucket: String) throws {
        func steps(_ count: Int) throws -> Int {
            let fixture = try TestStore()
            let tokens = (0..<count).map { number in
                bucket == "AccessToken"
                    ? JSONValue.accessToken("a\(number)", "s\(number)")
                    : .refreshToken("r\(number)", ["user_assertion_hash": .string("h\(number)")])
            }
            let entries = tokens.enumerated().map { (name: "key \($0)", value: $1) }
            let steps = Steps()
            try fixture.store.withWriter { steps.attach(to: $0.connection) }
            try fixture.take(JSONValue.cache(accounts: [.account()]).with([bucket: .object(.init(entries))]))
            try fixture.store.withWriter { session in
                sqlite3_trace_v2(session.connection.sqlite.handle, 0, nil, nil)
                #expect(steps.count > count)
            }
            return steps.count
        }
        let (few, many) = (try steps(300), try steps(1_200))
        #expect(many < few * 8, "\(few) and \(many)")
    }

    /// The rows that the statements of a connection return; most of them are opened.
    private final class Rows {
        var count = 0

        func attach(to connection: Connection) {
            sqlite3_trace_v2(
                connection.sqlite.handle,
                UInt32(SQLITE_TRACE_ROW),
                { _, context, _, _ in
                    guard let context else { return 0 }
                    Unmanaged<Rows>.fromOpaque(context).takeUnretainedValue().count += 1
                    return 0
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
    }

    @Test(arguments: ["", ".example"])
    func `an import of a guest in many tenants reads no more for each, nor does it again`(domain: String) throws {
        func rows(_ count: Int) throws -> (first: Int, second: Int) {
            let fixture = try TestStore()
            let tokens = (0..<count).map { number in
                JSONValue.idToken(
                    Fixture.claims(["tid": .string("tenant\(number)")]),
                    ["realm": .string("tenant\(number)\(domain)")]
                )
            }
            let document = JSONValue.cache(idTokens: tokens, accounts: [.account()])
            let rows = Rows()
            try fixture.store.withWriter { rows.attach(to: $0.connection) }
            try fixture.take(document)
            let first = rows.count
            #expect(try fixture.take(document).changes == 0)
            try fixture.store.withWriter { session in
                sqlite3_trace_v2(session.connection.sqlite.handle, 0, nil, nil)
                #expect(first > count)
            }
            return (first, rows.count - first)
        }
        let (few, many) = (try rows(50), try rows(200))
        #expect(many.first < few.first * 6, "\(few) and \(many)")
        #expect(many.second < few.second * 6, "\(few) and \(many)")
    }
}
