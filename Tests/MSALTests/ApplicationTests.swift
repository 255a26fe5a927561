import Foundation
import IssuerSupport
import LocalIdentityProvider
import MSAL
import OAuth
import SignIn
import Synchronization
import TestSupport
import Testing
import TokenManagement
import TokenStorage

extension BrowserTests {
    /// Calls of the application that the guides do not show.
    @MainActor
    struct ApplicationTests {
        private static let scopes = NativeScene.toDo.tokens

        @Test func `a result has the token, its account, and where it came from`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let result = try await signIn(app)
                #expect(result.accessToken.hasPrefix("ey"))
                #expect(result.authorizationHeader == "Bearer \(result.accessToken)")
                #expect(result.authenticationScheme == "Bearer")
                #expect(result.scopes == Self.scopes)
                #expect(result.expiresOn == NativeScene.start.addingTimeInterval(3_600))
                #expect(result.idToken?.hasPrefix("ey") == true)
                #expect(!result.extendedLifeTimeToken)
                #expect(result.account.username == NativeScene.ana)
                #expect(result.account.accountClaims?["name"] as? String == "Ana Rojas")
                #expect(result.account.homeAccountId?.objectId?.hasSuffix("-b2c_1_susi") == true)
                #expect(result.tenantProfile.isHomeTenantProfile)
                #expect(result.authority == app.configuration.authority)
            }
        }

        @Test func `accounts are found by identifier, username and as the current one`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let account = try await signIn(app).account
                let identifier = try #require(account.identifier)
                #expect(try app.allAccounts() == [account])
                #expect(try app.account(forIdentifier: identifier) == account)
                #expect(try app.account(forUsername: NativeScene.ana.uppercased()) == account)
                #expect(try app.accounts(for: MSALAccountEnumerationParameters(identifier: "x")).isEmpty)
                let current: MSALAccount? = await withCheckedContinuation { continuation in
                    app.getCurrentAccount(with: nil) { account, _, _ in continuation.resume(returning: account) }
                }
                #expect(current == account)
                #expect(try await app.currentAccount().0 == account)
                let profile = try #require(account.tenantProfiles?.first?.identifier)
                for name in [profile, profile.uppercased(), " \(profile)"] {
                    let parameters = MSALAccountEnumerationParameters(tenantProfileIdentifier: name)
                    #expect(try app.accounts(for: parameters) == [account])
                }
            }
        }

        @Test(arguments: ["", " "])
        func `C82: a blank name is an invalid parameter`(name: String) async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let reason = MSALInternalError.invalidParameter.rawValue
                let username = #expect(throws: NSError.self) { try app.account(forUsername: name) }
                #expect(username?.userInfo[MSALInternalErrorCodeKey] as? Int == reason)
                let identifier = #expect(throws: NSError.self) { try app.account(forIdentifier: name) }
                #expect(identifier?.userInfo[MSALInternalErrorCodeKey] as? Int == reason)
            }
        }

        @Test func `asynchronous questions for accounts are not read on the main thread`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let account = try await signIn(app).account
                let parameters = MSALAccountEnumerationParameters()
                let questions: [@MainActor @Sendable () async throws -> MSALAccount?] = [
                    { try await app.currentAccount().0 },
                    {
                        await withCheckedContinuation { continuation in
                            app.getCurrentAccount(with: nil) { account, _, _ in
                                continuation.resume(returning: account)
                            }
                        }
                    },
                    {
                        await withCheckedContinuation { continuation in
                            app.accountsFromDevice(for: parameters) { accounts, _ in
                                continuation.resume(returning: accounts?.first)
                            }
                        }
                    },
                ]
                let checks = questions.map { question in
                    { @Sendable () async throws -> Void in #expect(try await question() == account) }
                }
                #expect(try await OccupiedQueue.keepsWaiting(readersOf: app.application.store, checks))
            }
        }

        @Test func `an account that does not exist is an error, not a crash`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let error = #expect(throws: NSError.self) { try app.account(forIdentifier: "x") }
                #expect(error?.domain == MSALErrorDomain)
                #expect(error?.userInfo[MSALInternalErrorCodeKey] as? Int == MSALInternalError.accountRequired.rawValue)
            }
        }

        @Test func `a sign-out by completion block revokes at the issuer and removes the account`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let account = try await signIn(app).account
                let parameters = MSALSignoutParameters(webviewParameters: webviewParameters())
                let isDone = await withCheckedContinuation { continuation in
                    app.signout(with: account, signoutParameters: parameters) { isDone, _ in
                        continuation.resume(returning: isDone)
                    }
                }
                #expect(isDone)
                #expect(try app.allAccounts().isEmpty)
                #expect(scene.provider.audit.count(of: "revoke") > 0)
            }
        }

        @Test func `S18, S21: a silent request for a removed account requires interaction`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene)
                let account = try await signIn(app).account
                try app.remove(account)
                let parameters = MSALSilentTokenParameters(scopes: Self.scopes, account: account)
                let error = await #expect(throws: NSError.self) { try await app.acquireTokenSilent(with: parameters) }
                #expect(error?.domain == MSALErrorDomain)
                #expect(error?.code == MSALError.interactionRequired.rawValue)
            }
        }

        @Test func `a page in the app's own session signs in, and closing it cancels`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene, SystemBrowser(environment: [:]))
                let browser = try ScriptedBrowser()
                let parameters = webviewParameters()
                parameters.session = { page, scheme in
                    #expect(scheme == "msauth.com.example.tokenstore")
                    try await browser.open(page.absoluteString)
                    try await browser.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
                    return try #require(await URL(string: browser.address))
                }
                let request = MSALInteractiveTokenParameters(scopes: Self.scopes, webviewParameters: parameters)
                #expect(try await app.acquireToken(with: request).account.username == NativeScene.ana)
                parameters.session = { _, _ in throw CancellationError() }
                let error = await #expect(throws: NSError.self) { try await app.acquireToken(with: request) }
                #expect(error?.code == MSALError.userCanceled.rawValue)
            }
        }

        @Test func `the page of a sign-in that is over is closed, and ends no other`() async throws {
            try await NativeScene.open { scene in
                let app = try application(scene, SystemBrowser(environment: [:]))
                let opened = AsyncStream<Void>.makeStream()
                let closed = AsyncStream<Void>.makeStream()
                let parameters = webviewParameters()
                parameters.session = { _, _ in
                    opened.continuation.yield()
                    try? await Task.sleep(for: .seconds(3_600))
                    closed.continuation.yield()
                    throw CancellationError()
                }
                let first = MSALInteractiveTokenParameters(scopes: Self.scopes, webviewParameters: parameters)
                let ended = Task { _ = try await app.acquireToken(with: first) }
                for await _ in opened.stream { break }
                #expect(MSALPublicClientApplication.cancelCurrentWebAuthSession())
                for await _ in closed.stream { break }
                await #expect(throws: NSError.self) { try await ended.value }
                // What the user does on a page of before concerns no other sign-in.
                let browser = try ScriptedBrowser()
                let next = webviewParameters()
                next.session = { page, _ in
                    app.application.cancelSignIn(atPage: "https://login.example.org/authorize?state=other")
                    try await browser.open(page.absoluteString)
                    try await browser.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
                    return try #require(await URL(string: browser.address))
                }
                let second = MSALInteractiveTokenParameters(scopes: Self.scopes, webviewParameters: next)
                let result = try await app.acquireToken(with: second)
                #expect(result.account.username == NativeScene.ana)
                var shown = ""
                dump(result, to: &shown)
                #expect(!shown.contains("eyJ"))
            }
        }

        @Test func `a sign-in under way is cancelled from anywhere, and a second one is refused meanwhile`()
            async throws
        {
            try await NativeScene.open { scene in
                let opened = AsyncStream<Void>.makeStream()
                let app = try application(scene, Waiting { opened.continuation.yield() })
                let request = MSALInteractiveTokenParameters(
                    scopes: Self.scopes,
                    webviewParameters: webviewParameters()
                )
                let ended = AsyncStream<Int>.makeStream()
                app.acquireToken(with: request) { _, error in ended.continuation.yield((error as NSError?)?.code ?? 0) }
                for await _ in opened.stream { break }
                let second = await #expect(throws: NSError.self) { try await app.acquireToken(with: request) }
                #expect(second?.userInfo[MSALInternalErrorCodeKey] as? Int == -42_402)
                #expect(MSALPublicClientApplication.cancelCurrentWebAuthSession())
                for await code in ended.stream {
                    #expect(code == MSALError.userCanceled.rawValue)
                    break
                }
            }
        }

        @Test(arguments: [
            ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SUSI", "b2c_1_susi"),
            ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_SUSI", "b2c_1_susi"),
            ("https://login.contoso.com/contoso.onmicrosoft.com/signin", "signin"),
        ])
        func `S05: the address of a user flow, with and without the mark`(text: String, flow: String) throws {
            let authority = try MSALB2CAuthority(url: try #require(URL(string: text)))
            #expect(authority.url.lastPathComponent == flow)
            #expect(authority.authority.userFlow == flow)
        }

        @Test func `S05: an address that is none of an authority throws`() throws {
            let url = try #require(URL(string: "http://example.org/"))
            let error = #expect(throws: NSError.self) { try MSALB2CAuthority(url: url) }
            #expect(error?.userInfo[MSALInternalErrorCodeKey] as? Int == MSALInternalError.invalidParameter.rawValue)
        }

        @Test(arguments: ["[]", "null", "5", #""acr""#])
        func `claims that are no JSON object throw`(json: String) throws {
            let error = #expect(throws: NSError.self) { try MSALClaimsRequest(jsonString: json) }
            #expect(error?.userInfo[MSALInternalErrorCodeKey] as? Int == MSALInternalError.invalidParameter.rawValue)
        }

        @Test func `a configuration has MSAL's defaults`() throws {
            let config = MSALPublicClientApplicationConfig(clientId: "app")
            #expect(config.authority.url.absoluteString == "https://login.microsoftonline.com/common")
            #expect(config.tokenExpirationBuffer == 300)
            #expect(config.knownAuthorities.isEmpty)
            let parameters = MSALInteractiveTokenParameters(scopes: [], webviewParameters: webviewParameters())
            #expect(parameters.promptType == .default)
            #expect(try MSALClaimsRequest(jsonString: #"{"id_token":{}}"#).jsonString() == #"{"id_token":{}}"#)
        }

        private func webviewParameters() -> MSALWebviewParameters {
            MSALWebviewParameters(authPresentationViewController: NSObject())
        }

        private func application(
            _ scene: NativeScene,
            _ agent: (any UserAgent)? = nil
        ) throws -> MSALPublicClientApplication {
            let flow = scene.provider.baseURL + "/tfp/fabrikvine.onmicrosoft.com/b2c_1_susi"
            let config = MSALPublicClientApplicationConfig(
                clientId: "b2c-app",
                redirectUri: "msauth.com.example.tokenstore://auth",
                authority: try MSALB2CAuthority(url: try #require(URL(string: flow)))
            )
            var surroundings = scene.surroundings
            surroundings.userAgent =
                try agent
                ?? HandingBack(visitor: ScriptedBrowser()) { visitor in
                    try await visitor.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
                }
            return try Surroundings.$current.withValue(surroundings) {
                try MSALPublicClientApplication(configuration: config)
            }
        }

        private func signIn(_ app: MSALPublicClientApplication) async throws -> MSALResult {
            let parameters = MSALInteractiveTokenParameters(
                scopes: Self.scopes,
                webviewParameters: webviewParameters()
            )
            return try await app.acquireToken(with: parameters)
        }

        /// A user who looks at the page and does nothing.
        private struct Waiting: UserAgent {
            let looks: @Sendable () -> Void

            func open(_ address: String) async throws { looks() }
        }
    }
}
