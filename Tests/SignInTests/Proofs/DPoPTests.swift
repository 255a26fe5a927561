import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// Sessions whose tokens are bound to a key of the store (RFC 9449).
struct DPoPTests {
    @Test(arguments: [false, true])
    func `a bound session signs in, calls an API, refreshes and calls again`(demandsNonce: Bool) async throws {
        try await DPoPScene.open(demandsNonce: demandsNonce) { (scene: DPoPScene) async throws in
            let signedIn = try await scene.signIn()
            let key = try #require(try scene.key(signedIn.account.id))
            #expect(signedIn.accessToken?.tokenType == "DPoP")
            #expect(signedIn.accessToken?.keyID == key.thumbprint)
            #expect(try await scene.call(signedIn.account).status == 200)
            scene.expire()
            #expect(try await scene.call(signedIn.account).status == 200)
            #expect(try scene.key(signedIn.account.id) == key)
            let demand = demandsNonce ? ["use_dpop_nonce"] : []
            #expect(scene.outcomes("token") == demand + ["200"] + demand + ["200"])
            #expect(scene.outcomes("api").count { $0 == "200" } == 2)
            #expect(try await scene.store.check() == [])
        }
    }

    @Test func `a device signs in with a bound session`() async throws {
        try await DeviceScene.open { scene in
            scene.provider.proofs.set { $0.demandsNonce = true }
            var flow = DeviceCodeFlow(clientID: DeviceScene.client, transport: DeviceScene.transport)
            flow.dpop = .required
            flow.now = scene.store.options.now
            flow.pause = { [pauses = scene.pauses] in try await pauses.pause($0) }
            let device = try await flow.begin(DeviceScene.toDo, at: try scene.tenant)
            scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) }
            let result = try await scene.signedIn(device)
            #expect(result.accessToken?.isDPoP == true)
            #expect(try scene.store.boundKey(of: result.account.id, client: DeviceScene.client) != nil)
            scene.provider.clock.advance(by: 3_601)
            let request = SilentRequest(account: result.account.id, scope: DeviceScene.toDo)
            let refreshed = try await scene.manager().acquireTokenSilently(request)
            #expect(refreshed.accessToken.isDPoP)
        }
    }

    @Test func `a bound token is of no use without its key`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let signedIn = try await scene.signIn()
            let token = try #require(signedIn.accessToken?.secret.reveal())
            for scheme in ["Bearer", "DPoP"] {
                let headers: HTTPHeaders = ["authorization": "\(scheme) \(token)"]
                let request = HTTPRequest("GET", scene.provider.baseURL + "/api1/tasks", headers: headers)
                #expect(try await SignInScene.transport.send(request, limits: .webAPI).status == 401)
            }
            #expect(signedIn.token?.authorizationHeader.reveal().hasPrefix("DPoP ") == true)
        }
    }

    @Test func `a bound refresh token is sent with its proof whatever the option says`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            #expect(try await scene.call(account, dpop: .off).status == 200)
            #expect(scene.outcomes("token") == ["200", "200"])
        }
    }

    @Test func `a session whose access tokens are bound hands out no other`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            scene.provider.proofs.set { $0.bindsAccessTokens = false }
            let error = try await acquisitionError {
                _ = try await scene.application(dpop: .off).acquireTokenSilently(scene.request(account.id))
            }
            #expect(error?.dpopError?.code == .downgrade)
            // The refresh token of the answer that was refused is kept.
            scene.provider.proofs.set { $0.bindsAccessTokens = true }
            #expect(try await scene.call(account, dpop: .off).status == 200)
            #expect(scene.outcomes("token") == ["200", "200", "200"])
        }
    }

    @Test func `where DPoP is required, a token that is not bound ends the sign-in`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            scene.provider.proofs.set { $0.bindsAccessTokens = false }
            await #expect(throws: SignInError.dpop(.downgrade)) { try await scene.signIn() }
            #expect(try scene.scene.isUntouched)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }

    @Test func `where DPoP is an option, an issuer may bind the refresh token alone`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            scene.provider.proofs.set { $0.bindsAccessTokens = false }
            let result = try await scene.signIn(dpop: .whenSupported)
            #expect(result.accessToken?.tokenType == "Bearer")
            #expect(result.accessToken?.keyID == nil)
            #expect(try await scene.call(result.account, dpop: .whenSupported).status == 200)
            scene.expire()
            #expect(try await scene.call(result.account, dpop: .whenSupported).status == 200)
            let error = try await acquisitionError {
                _ = try await scene.application().acquireTokenSilently(scene.request(result.account.id))
            }
            guard error?.dpopError?.code == .downgrade else {
                Issue.record("\(String(describing: error))")
                return
            }
            // The refresh token of the answer that was refused is kept.
            scene.provider.proofs.set { $0.bindsAccessTokens = true }
            #expect(try await scene.call(result.account).status == 200)
        }
    }

    @Test func `an issuer without DPoP is refused before its page opens, or taken as it is`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            scene.provider.proofs.set { $0.isSupported = false }
            let application = try scene.application()
            await #expect {
                _ = try await application.acquireToken(DPoPScene.interactive)
            } throws: { error in
                (error as? SignInError)?.dpopError?.code == .unsupported
            }
            let result = try await scene.signIn(dpop: .whenSupported)
            #expect(result.accessToken?.tokenType == "Bearer")
            #expect(try scene.key(result.account.id) == nil)
            let error = try await acquisitionError {
                _ = try await application.acquireTokenSilently(scene.request(result.account.id))
            }
            #expect(error?.needsInteraction == true)
        }
    }

    @Test func `a code that was requested for another key is refused`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let agent = ReactingUser { address in
                #expect(address.contains("dpop_jkt="))
                let other = address.replacing(/dpop_jkt=[^&]*/, with: "dpop_jkt=" + DPoPKey().thumbprint)
                try await DPoPScene.agent().open(other)
            }
            await #expect(throws: SignInError.self) {
                try await scene.application(agent).acquireToken(DPoPScene.interactive)
            }
            #expect(scene.outcomes("token") == ["invalid_grant"])
            #expect(try scene.scene.isUntouched)
        }
    }

    @Test(arguments: [DPoPPolicy.off, .required])
    func `a bound token is asked for by its type and its key`(dpop: DPoPPolicy) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let application = try scene.application(dpop: dpop)
            var request = scene.request(account.id)
            request.tokenType = "DPoP"
            #expect(try await application.acquireTokenSilently(request).source == .cache)
            request.keyID = try scene.key(account.id)?.thumbprint
            #expect(try await application.acquireTokenSilently(request).source == .cache)
            scene.expire()
            #expect(try await application.acquireTokenSilently(request).source == .refresh)
            request.keyID = "another"
            let other = request
            let error = try await acquisitionError { _ = try await application.acquireTokenSilently(other) }
            #expect(error?.dpopError?.code == .noKey)
            #expect(scene.outcomes("token") == ["200", "200"])
        }
    }

    @Test func `an app cannot name the key of a sign-in`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            var request = DPoPScene.interactive
            request.extraParameters = ["dpop_jkt": "x"]
            let wanted = request
            await #expect(throws: SignInError.self) { try await scene.application().acquireToken(wanted) }
        }
    }

    @Test func `a new sign-in brings a new key, and one without DPoP takes it away`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let first = try scene.key(account.id)
            try await scene.signIn()
            let second = try scene.key(account.id)
            #expect(second != nil)
            #expect(second != first)
            await #expect(try scene.store.status().accessTokens == 1)
            #expect(try await scene.call(account).status == 200)
            try await scene.signIn(dpop: .off)
            #expect(try scene.key(account.id) == nil)
            await #expect(try scene.store.status().accessTokens == 1)
            #expect(try await scene.call(account, dpop: .off).status == 200)
        }
    }

    @Test func `a session stays bound after a rekey, and a sign-out leaves no key`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let key = try #require(try scene.key(account.id))
            _ = try await scene.store.rekey()
            #expect(try scene.key(account.id) == key)
            scene.expire()
            #expect(try await scene.call(account).status == 200)
            try await scene.application().signOut(account)
            #expect(try scene.key(account.id) == nil)
        }
    }

    @Test func `a refresh that got no answer is repeated by the next program`() async throws {
        try await DPoPScene.open(demandsNonce: true) { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let token = try await #require(try scene.store.refreshTokens(of: account.id, client: "b2c-app").first)
            scene.expire()
            #expect(try scene.store.beginRefresh(with: token) == nil)
            #expect(try await scene.call(account).status == 200)
            await #expect(try scene.store.refreshTokens(of: account.id, client: "b2c-app").count == 1)
        }
    }

    @Test func `a bound token that the API finds invalid is refreshed and sent once more`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let first = try await scene.signIn()
            let used = try #require(first.accessToken?.secret.reveal())
            let strict = ChangedResponses { request, response in
                guard request.headers["authorization"] == "DPoP \(used)" else { return response }
                let headers: HTTPHeaders = ["www-authenticate": #"Bearer, DPoP error="invalid_token", algs="ES256""#]
                return HTTPResponse(status: 401, headers: headers)
            }
            #expect(try await scene.call(first.account, transport: strict).status == 200)
            #expect(scene.outcomes("token") == ["200", "200"])
            #expect(strict.proofs.count == 3)
        }
    }
}
