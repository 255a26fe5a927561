import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import Testing
import TokenManagement
import TokenStorage

/// Servers that want more in a proof, and what they cannot do by it.
struct DPoPNonceTests {
    @Test func `two programs with one key send one refresh`() async throws {
        try await DPoPScene.open(demandsNonce: true) { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            let before = scene.outcomes("token").count
            let tokens = try await withThrowingTaskGroup(of: Secret?.self) { group in
                for _ in 0..<4 {
                    let options = scene.store.options
                    let path = scene.store.path
                    group.addTask {
                        let store = try await TokenStore.open(at: path, options: options)
                        let manager = TokenManager(
                            store: store,
                            clientID: "b2c-app",
                            transport: SignInScene.transport,
                            options: Self.patient
                        )
                        return try await manager.acquireTokenSilently(scene.request(account.id)).accessToken.secret
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(tokens.map { $0?.reveal() }).count == 1)
            #expect(scene.outcomes("token").dropFirst(before) == ["use_dpop_nonce", "200"])
        }
    }

    private static var patient: TokenManagerOptions {
        var options = TokenManagerOptions()
        options.limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)
        options.dpop = .required
        return options
    }

    @Test func `a nonce that changes costs one more request and no token`() async throws {
        try await DPoPScene.open(demandsNonce: true) { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let api = WebAPI(url: scene.provider.baseURL + "/api1", scope: SignInScene.toDo)
            let transport = try scene.application().transport(to: api, as: account)
            for _ in 0..<3 { #expect(try await transport.send(HTTPRequest("GET", api.url)).status == 200) }
            scene.provider.proofs.changeNonce()
            scene.expire()
            #expect(try await transport.send(HTTPRequest("GET", api.url)).status == 200)
            // The nonce of one server is the same for its token endpoint and its API here.
            #expect(scene.outcomes("api") == ["use_dpop_nonce", "200", "200", "200", "200"])
            #expect(scene.outcomes("token").suffix(2) == ["use_dpop_nonce", "200"])
        }
    }

    @Test func `an endless demand for nonces ends after one repetition and spends nothing`() async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            let counter = Mutex(0)
            let endless = ChangedResponses { request, response in
                guard request.headers["dpop"] != nil else { return response }
                let number = counter.withLock {
                    $0 += 1
                    return $0
                }
                let headers: HTTPHeaders = ["DPoP-Nonce": "nonce-\(number)"]
                return HTTPResponse(status: 400, headers: headers, body: Secret(#"{"error":"use_dpop_nonce"}"#))
            }
            let refused = try scene.application(transport: Blocked(endless))
            let error = try await acquisitionError {
                _ = try await refused.acquireTokenSilently(scene.request(account.id))
            }
            guard error?.dpopError?.code == .refusedProof else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.remedy?.code == .askOperator)
            #expect(counter.withLock(\.self) == 2)
            let query = TokenQuery(account: account.id, clientID: "b2c-app", scope: SignInScene.toDo)
            let state = try #require(try scene.store.silentState(for: query) { try Authority(of: $0, requested: nil) })
            #expect(state.candidates.count == 1)
            #expect(state.candidates.first?.attempt == nil)
            #expect(try await scene.call(account).status == 200)
        }
    }

    @Test(arguments: [("use_dpop_nonce", Remedy.Code.askOperator), ("invalid_dpop_proof", .correctClock)])
    func `a refused proof has the same advice in a sign-in`(code: String, advice: Remedy.Code) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let refusing = ChangedResponses { request, response in
                let headers: HTTPHeaders = ["DPoP-Nonce": "nonce"]
                return request.headers["dpop"] == nil
                    ? response : HTTPResponse(status: 400, headers: headers, body: Secret(#"{"error":"\#(code)"}"#))
            }
            let error = try await signInError { _ = try await scene.signIn(transport: Blocked(refusing)) }
            #expect(error?.code == .dpop)
            #expect(error?.dpopError?.code == .refusedProof)
            #expect(error?.refusal?.code.rawValue == code)
            #expect(error?.remedy?.code == advice)
            #expect(try scene.scene.isUntouched)
        }
    }

    @Test(arguments: ["use_dpop_nonce", "invalid_dpop_proof"])
    func `a sign-in without a key is advised to have one where the issuer wants it`(code: String) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let wanting = ChangedResponses { request, response in
                guard request.url.hasSuffix("/token") else { return response }
                return HTTPResponse(status: 400, body: Secret(#"{"error":"\#(code)"}"#))
            }
            let error = try await signInError { _ = try await scene.signIn(dpop: .off, transport: wanting) }
            #expect(error?.dpopError?.code == .noKey)
            #expect(error?.refusal?.code.rawValue == code)
            #expect(error?.remedy?.advice == "sign in with DPoP")
            #expect(try scene.scene.isUntouched)
        }
    }

    @Test(arguments: [
        [], [""], ["with space"], ["a\u{0}b"], ["a\r\nX: y"], ["quo\"te"], ["b\\s"], ["ü"], ["one", "two"],
        [String(repeating: "n", count: 1 << 20)],
    ])
    func `what is not a nonce is never repeated`(values: [String]) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            let hostile = ChangedResponses.demanding(values)
            let refused = try scene.application(transport: Blocked(hostile))
            let error = try await acquisitionError {
                _ = try await refused.acquireTokenSilently(scene.request(account.id))
            }
            #expect(error != nil)
            #expect(hostile.proofs.count == 1)
            #expect(try await scene.call(account).status == 200)
        }
    }

    @Test(arguments: [-7_200, 7_200] as [TimeInterval])
    func `a clock that is wrong is corrected by the server's`(error: TimeInterval) async throws {
        try await DPoPScene.open { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            let dated = ChangedResponses { [clock = scene.provider.clock] _, response in
                var headers = response.headers
                headers["date"] = Self.date(clock.now)
                return HTTPResponse(status: response.status, headers: headers, body: response.body)
            }
            let key = try DPoPKey(#require(try scene.key(account.id)))
            let token = try #require(try scene.store.newestAccessToken(for: Self.query(account.id))?.token.secret)
            let wrong = Int64(scene.provider.clock.now.timeIntervalSince1970 + error)
            let transport = DPoPTransport(key, servers: DPoPServers(), transport: dated, accessToken: token) { wrong }
            let headers: HTTPHeaders = ["authorization": "DPoP \(token.reveal())"]
            for _ in 0..<2 {
                let request = HTTPRequest("GET", scene.provider.baseURL + "/api1/tasks", headers: headers)
                #expect(try await transport.send(request, limits: .webAPI).status == 200)
            }
            #expect(scene.outcomes("api") == ["invalid_dpop_proof", "200", "200"])
        }
    }

    private static func query(_ account: Account.ID) -> TokenQuery {
        TokenQuery(account: account, clientID: "b2c-app", scope: SignInScene.toDo)
    }

    private static func date(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }

    @Test func `a refresh whose answer is lost after a nonce demand is possibly consumed`() async throws {
        try await DPoPScene.open(demandsNonce: true) { (scene: DPoPScene) async throws in
            let account = try await scene.signIn().account
            scene.expire()
            scene.provider.proofs.changeNonce()
            var lost = Fault.lostResponse(at: "token", times: nil)
            lost.after = 1
            scene.provider.faults.add(lost)
            let application = try scene.application()
            await #expect(throws: AcquisitionError.self) {
                _ = try await application.acquireTokenSilently(scene.request(account.id))
            }
            scene.provider.faults.removeAll()
            let state = try #require(
                try scene.store.silentState(for: Self.query(account.id)) { try Authority(of: $0, requested: nil) }
            )
            #expect(state.candidates.first?.attempt != nil)
        }
    }
}

/// A transport whose requests with proofs never reach the server; what the other one makes of them is the answer.
private struct Blocked: HTTPTransport {
    private let other: ChangedResponses

    init(_ other: ChangedResponses) { self.other = other }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        guard request.headers["dpop"] != nil else { return try await other.send(request, limits: limits) }
        return other.answerAlone(request)
    }
}
