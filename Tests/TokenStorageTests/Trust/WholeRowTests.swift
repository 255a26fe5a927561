import Database
import OAuth
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A row says which sealed columns it has: none of them can be taken away.
@Suite(.onBothEngines)
struct WholeRowTests {
    /// A store whose only refresh token was got on behalf of someone, which its further members say.
    private func onBehalf() throws -> TestStore {
        let token = JSONValue.refreshToken("rt1", ["user_assertion_hash": "h1"])
        return try TestStore(.cache(refreshTokens: [token], idTokens: [.idToken()], accounts: [.account()]))
    }

    private func takeMembers(from fixture: TestStore) throws {
        try fixture.store.write { session in
            try session.connection.run("UPDATE refresh_token SET extra = NULL")
        }
    }

    /// Seals the refresh tokens as versions did that bound a value to the clear columns alone.
    private func sealAsBefore(_ fixture: TestStore) throws {
        let table = SealedTable.refreshToken
        try fixture.store.write { session in
            let rows = try session.connection.all(table.everyRow) { row -> [Value] in
                let values = try table.sealed.indices.map { index -> Value in
                    guard let secret = try session.openIfPresent(row, of: table, index) else { return .null }
                    let location = SealedLocation(
                        table: table.name,
                        column: table.sealed[index],
                        owner: row.integer(1),
                        row: row.integer(0)
                    )
                    session.clearValues.removeAll()
                    session.clearValues.append(row, table.bound)
                    let sealer = try session.currentSealer()
                    return .blob(try sealer.seal(secret, as: location, with: session.clearValues.bytes))
                }
                let owner = row.integer(table.ownerOnServers ?? 1)
                return table.resealing(row.integer(0), of: owner, with: values, on: session.connection.dialect)
            }
            for row in rows { try session.connection.run(table.reseal, row) }
        }
    }

    @Test func `a refresh token on behalf of someone is no session without what says so`() throws {
        let fixture = try onBehalf()
        #expect(try fixture.request("s1") == .signIn(.noRefreshToken))
        try takeMembers(from: fixture)
        expectError(.damaged) { _ = try fixture.request("s1") }
        #expect(try fixture.store.check().count == 1)
    }

    @Test func `nor is it one where that cannot be read`() throws {
        let fixture = try onBehalf()
        try fixture.store.write { session in
            try session.connection.run("UPDATE refresh_token SET extra = secret")
        }
        expectError(.damaged) { _ = try fixture.request("s1") }
        #expect(try fixture.store.check().count == 1)
    }

    @Test func `what an earlier version sealed opens, and a rekey binds it to the whole row`() throws {
        let fixture = try onBehalf()
        try sealAsBefore(fixture)
        #expect(try fixture.request("s1") == .signIn(.noRefreshToken))
        #expect(try fixture.rows("RefreshToken").map { $0["secret"].text } == ["rt1"])
        #expect(try fixture.store.check() == [])
        _ = try fixture.store.rekey()
        try takeMembers(from: fixture)
        expectError(.damaged) { _ = try fixture.request("s1") }
    }

    @Test func `what an earlier version noted about a refresh token counts`() throws {
        let fixture = try TestStore(.standardCache())
        let token = try fixture.currentRefreshToken()
        try fixture.store.write { session in
            _ = try session.write(
                .refreshAttempt,
                id: token.rowID,
                account: session.accountRow(token.account),
                clear: [
                    .integer(token.generation), .integer(Fixture.now), .text("test"), .integer(1), .text("ended"),
                ],
                sealed: [Secret("")]
            )
            #expect(try session.attempt(token)?.hasEnded == true)
        }
    }
}
