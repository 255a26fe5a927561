import Foundation
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

struct AccountTests {
    @Test func `N45, S61: a new process finds the account without the network`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.audit.reset()
            let found = try await #require(try scene.app("pwd-app", store: scene.reopened()).currentAccount())
            #expect(found.account.id == account.account.id)
            #expect(found.idToken == account.idToken)
            #expect(found.accountClaims[path: "name"]?.text == "Ana Rojas")
            #expect(scene.provider.audit.counts.isEmpty)
            _ = try await found.accessToken(for: NativeScene.toDo)
        }
    }

    @Test func `the accounts of an app are not read on the thread of its task`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            let id = try await scene.signInAna(in: app).account.id
            let questions: [@Sendable () async throws -> Void] = [
                { () async throws in #expect(try await app.accounts().map(\.account.id) == [id]) },
                { () async throws in #expect(try await app.currentAccount()?.account.id == id) },
            ]
            #expect(try await OccupiedQueue.keepsWaiting(readersOf: app.store, questions))
        }
    }

    @Test func `S60: the session is in a file that its user alone can read`() async throws {
        try await NativeScene.open { scene in
            _ = try await scene.signInAna()
            let path = scene.store.path
            func mode(_ file: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            }
            #expect(try mode(path.database) == 0o600)
            #expect(try mode(path.directory) == 0o700)
        }
    }

    @Test func `N46, S62, S63: a sign-out leaves no secret and no account, and may be repeated`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            let account = try await scene.signInAna(in: app)
            let secrets = try await [
                account.accessToken(for: NativeScene.toDo).accessToken.secret, account.idToken.secret,
                scene.store.refreshTokens(of: account.account.id, client: "pwd-app")[0].secret,
            ]
            try await account.signOut()
            #expect(try await app.currentAccount() == nil)
            let snapshot = try DirectorySnapshot(scene.store.path.directory)
            for secret in secrets {
                let text = secret.reveal()
                #expect(snapshot.names(holding: Data(text.utf8)) == [])
                #expect(snapshot.names(holding: Data(Data(text.utf8).base64EncodedString().utf8)) == [])
            }
            let status = try await scene.store.status()
            #expect(status.accounts == 0)
            #expect(status.accessTokens == 0)
            #expect(status.refreshTokens == 0)
            try await account.signOut()
            let error = try await accessTokenFailure(account, NativeScene.toDo)
            #expect(error.isNoAccount)
            #expect(error.description.contains("sign in"))
        }
    }

    @Test func `N46: a session ends at the issuer only when the caller asks for it`() async throws {
        try await NativeScene.open { (scene: NativeScene) async throws in
            #expect(try await scene.signInAna().signOut(.thisDevice) == .localOnly)
            #expect(scene.requests["revoke"] == nil)
            #expect(try await scene.signInAna().signOut() == .revoked)
        }
    }

    @Test func `N47, D7: a sign-in replaces the one before, but none of a user flow`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app")
            let login = Login(provider: scene.provider, transport: NativeScene.transport)
            var response = try await login.response(client: "pwd-app", scope: NativeScene.toDo)
            response.idToken = nil
            response.clientInfo = Base64URL.encode(
                #"{"uid":"0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1-b2c_1_susi","utid":"5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"}"#
                    .utf8
            )
            let flow = TokenRequest(
                clientID: "pwd-app",
                authority: try Authority(
                    parsing: scene.provider.baseURL + "/tfp/fabrikvine.onmicrosoft.com/b2c_1_susi"
                ),
                scope: NativeScene.toDo,
                grant: .authorizationCode
            )
            let userFlow = try #require(try await scene.store.save(response, for: flow).account)
            let bo = try await scene.signInBo(in: app)
            #expect(try await app.currentAccount()?.account.id == bo.account.id)
            let ana = try await scene.signInAna(in: app)
            #expect(try await app.accounts().map(\.account.id) == [ana.account.id])
            await #expect(Set(try scene.store.accounts().map(\.id)) == [ana.account.id, userFlow])
            #expect(try await accessTokenFailure(bo, NativeScene.toDo).isNoAccount)
        }
    }

    @Test func `D7: several accounts are signed in when the configuration allows it`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app") { $0.allowsSeveralAccounts = true }
            let bo = try await scene.signInBo(in: app)
            scene.provider.clock.advance(by: 1)
            let ana = try await scene.signInAna(in: app)
            #expect(try await app.accounts().map(\.account.id) == [ana.account.id, bo.account.id])
            _ = try await bo.accessToken(for: NativeScene.toDo)
        }
    }

    @Test func `D7: the account last signed in or refreshed is the current one, whatever the clock says`() async throws
    {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app") { $0.allowsSeveralAccounts = true }
            let ana = try await scene.signInAna(in: app).account.id
            let bo = try await scene.signInBo(in: app)
            #expect(try await app.accounts().map(\.account.id) == [bo.account.id, ana])
            scene.provider.clock.set(to: NativeScene.start - 60)
            _ = try await scene.signInAna(in: app)
            #expect(try await app.currentAccount()?.account.id == ana)
            _ = try await bo.accessToken(for: NativeScene.toDo)
            #expect(try await app.currentAccount()?.account.id == bo.account.id)
        }
    }

    @Test func `N48, S59: a custom attribute is read by its claim's name`() async throws {
        try await NativeScene.open { (scene: NativeScene) async throws in
            #expect(try await scene.signInAna().accountClaims[path: "loyalty"]?.text == "gold-17")
        }
    }

    @Test func `N49, S64: claims of a provider are read by their mapped names`() async throws {
        let service = try RawServer(
            Self.answer(#"{"tier":"gold","teams":["a","b"],"vip":true,"other":"x","subject":"me"}"#)
        )
        defer { service.stop() }
        try await NativeScene.open(seed: Self.seed(service.url)) { scene in
            let claims = try await scene.signInBo().accountClaims
            #expect(claims[path: "loyalty_tier"]?.text == "gold")
            #expect(claims[path: "teams"]?.array?.compactMap(\.text) == ["a", "b"])
            #expect(["vip", "other", "tier"].allSatisfy { claims[path: $0] == nil })
            #expect(claims.subject?.count == 43)
        }
    }

    @Test func `N50: a claims provider that is down stores nothing`() async throws {
        let service = try RawServer("HTTP/1.1 500 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        defer { service.stop() }
        try await NativeScene.open(seed: Self.seed(service.url)) { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.kind == .generalError)
            #expect(error.description.contains("again"))
            #expect(try scene.isUntouched)
        }
    }

    private static func seed(_ url: String) throws -> Seed {
        let provider = #"""
            "claimsProvider": {"url": "\#(url)", "timeoutMilliseconds": 1000, "onFailure": "refuse",
             "claims": {"tier": "loyalty_tier", "teams": "teams", "vip": "vip", "subject": "sub"}},
            """#
        let json = Seed.standardJSON.replacing(#""name": "Code app","#, with: provider + #""name": "Code app","#)
        return try Seed(json: Data(json.utf8))
    }

    private static func answer(_ claims: String) -> String {
        let type = "microsoft.graph.tokenIssuanceStart.provideClaimsForToken"
        let body = #"{"data":{"actions":[{"@odata.type":"\#(type)","claims":\#(claims)}]}}"#
        return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n\(body)"
    }
}
