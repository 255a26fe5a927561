import Foundation
import HTTPTransport
import OAuth
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Against a server from elsewhere.
@Suite(.onWaitingThreads)
struct GlewlwydTests {
    @Test(.enabled(if: Glewlwyd.isInstalled, "the Debian package glewlwyd is not installed"))
    func `a glewlwyd session survives 16 processes that refresh at once`() async throws {
        try await Glewlwyd.open { glewlwyd in
            let scratch = try ScratchDirectory()
            var response = try await glewlwyd.signIn()
            #expect(response.tokenType == "bearer")
            #expect(response.refreshToken != nil)
            response.expiresIn = .zero
            let request = TokenRequest(
                clientID: Glewlwyd.client,
                authority: try Authority(issuer: glewlwyd.issuer),
                scope: "read",
                grant: .authorizationCode
            )
            try await TokenStore.open(at: StorePath(scratch.store)).save(response, for: request)
            let race = try await Self.token(16, in: scratch)
            #expect(race.allSatisfy { $0.status == 0 }, "\(Set(race.map(\.error)))")
            #expect(Set(race.map(\.output)).count == 1)
            for _ in 1...2 {
                let next = try await Self.token(1, in: scratch, "--force-refresh")[0]
                #expect(next.status == 0, "\(next.error)")
                #expect(next.output != race[0].output, "\(next.error)")
            }
            let logout = try scratch.run("logout", "--yes", "--issuer", glewlwyd.issuer)
            #expect(logout.status == 0, "\(logout.error)")
            #expect(try scratch.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test(
        .enabled(if: Glewlwyd.isInstalled, "the Debian package glewlwyd is not installed"),
        arguments: Glewlwyd.Algorithm.allCases
    )
    func `login at glewlwyd, then token, claims and logout`(algorithm: Glewlwyd.Algorithm) async throws {
        try await Glewlwyd.open(algorithm) { glewlwyd in
            let scratch = try await Self.signedIn(at: glewlwyd)
            let token = try await Self.token(1, in: scratch)[0]
            #expect(token.status == 0, "\(token.error)")
            #expect(token.output.count > 20, "\(token.error)")
            let refreshed = try await Self.token(1, in: scratch, "--force-refresh")[0]
            #expect(refreshed.status == 0, "\(refreshed.error)")
            #expect(refreshed.output != token.output, "\(refreshed.error)")
            #expect(try scratch.run("claims", "--issuer", glewlwyd.issuer, "iss").output == glewlwyd.issuer + "\n")
            #expect(try scratch.run("logout", "--yes", "--issuer", glewlwyd.issuer).status == 0)
            #expect(try scratch.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test(.enabled(if: Glewlwyd.isInstalled, "the Debian package glewlwyd is not installed"))
    func `a glewlwyd session with --dpop is refreshed and used with proofs of its key`() async throws {
        try await Glewlwyd.open { glewlwyd in
            let scratch = try await Self.signedIn(at: glewlwyd, "--dpop")
            let store = try await TokenStore.open(at: StorePath(scratch.store))
            let account = try await #require(store.accounts().first).id
            let key = try #require(try store.boundKey(of: account, client: Glewlwyd.client))
            let manager = TokenManager(store: store, clientID: Glewlwyd.client, transport: AsyncHTTPTransport())
            var request = SilentRequest(account: account, scope: "read")
            let first = try await manager.acquireTokenSilently(request).accessToken
            #expect(first.tokenType == "DPoP")
            #expect(first.keyID == key.thumbprint)
            request.forcesRefresh = true
            let second = try await manager.acquireTokenSilently(request).accessToken
            #expect(second.secret != first.secret)
            #expect(second.keyID == key.thumbprint)
            let person = WebAPI(url: glewlwyd.issuer + "/userinfo", scope: "read")
            let answer = try await manager.authorized(person, account: account).json()
            #expect(answer.object?["sub"] != nil)
        }
    }

    @Test(.enabled(if: Glewlwyd.isInstalled, "the Debian package glewlwyd is not installed"))
    func `a glewlwyd session is kept fresh before its token ends`() async throws {
        try await Glewlwyd.open { glewlwyd in
            let scratch = try await Self.signedIn(at: glewlwyd)
            let path = StorePath(scratch.store)
            let account = try await #require(TokenStore.open(at: path).accounts().first).id
            let query = TokenQuery(account: account, clientID: Glewlwyd.client, scope: "read")
            let before = try #require(try await TokenStore.open(at: path).cachedToken(for: query).token)
            var options = StoreOptions()
            // Of the token's hour 200 seconds are left.
            options.now = { Date() + 3_400 }
            let store = try await TokenStore.open(at: path, options: options)
            let manager = TokenManager(store: store, clientID: Glewlwyd.client, transport: AsyncHTTPTransport())
            await manager.keepFresh(account, scopes: ["read"]) { _ in throw CancellationError() }.waitUntilEnded()
            let after = try #require(try await store.cachedToken(for: query).token)
            #expect(after.secret != before.secret)
            #expect(after.expiresAt > before.expiresAt)
        }
    }

    /// Where a person signed in on the command line.
    private static func signedIn(at glewlwyd: Glewlwyd, _ more: String...) async throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        let arguments = [
            "--issuer", glewlwyd.issuer, "--client-id", Glewlwyd.client, "--scope", "read", "--redirect-uri",
            glewlwyd.redirectURI,
        ]
        let login = try await LoginRun(scratch: scratch).run(arguments + more) { try await glewlwyd.visit($0) }
        #expect(login.status == 0, "\(login.error)")
        return scratch
    }

    private static func token(
        _ count: Int,
        in scratch: ScratchDirectory,
        _ arguments: String...
    ) async throws -> [Command.Outcome] {
        let command = Command(
            arguments: ["token", "--scope", "read"] + arguments,
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        return try await withThrowingTaskGroup(of: Command.Outcome.self) { group in
            for _ in 0..<count { group.addTask { try await command.runAside(in: scratch) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension CachedToken {
    /// The token, if one is good to use.
    fileprivate var token: AccessToken? { if case .usable(let token, _) = self { token } else { nil } }
}
