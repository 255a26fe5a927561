import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import TokenManagement
import TokenStorage

/// A sign-in scene whose sessions are bound to keys.
struct DPoPScene: Sendable {
    let scene: SignInScene
    var provider: LocalIdentityProvider { scene.provider }
    var store: TokenStore { scene.store }

    static func open(
        demandsNonce: Bool = false,
        _ body: (DPoPScene) async throws -> Void
    ) async throws {
        try await SignInScene.open { scene in
            scene.provider.proofs.set { $0.demandsNonce = demandsNonce }
            try await body(DPoPScene(scene: scene))
        }
    }

    func application(
        _ userAgent: any UserAgent = AbsentUser(),
        dpop: DPoPPolicy = .required,
        transport: any HTTPTransport = SignInScene.transport
    ) throws -> PublicClientApplication {
        try scene.application(userAgent, transport: transport) { $0.tokenOptions.dpop = dpop }
    }

    /// Signs Ana in.
    @discardableResult
    func signIn(
        dpop: DPoPPolicy = .required,
        transport: any HTTPTransport = SignInScene.transport
    ) async throws -> AuthenticationResult {
        try await application(Self.agent(), dpop: dpop, transport: transport).acquireToken(Self.interactive)
    }

    static let interactive = InteractiveRequest(scope: SignInScene.toDo)

    static func agent() throws -> ScriptedUser {
        try ScriptedUser { visitor in try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword) }
    }

    func request(_ account: Account.ID, _ scope: Scope = SignInScene.toDo) -> SilentRequest {
        SilentRequest(account: account, scope: scope)
    }

    /// What the sample API answers to a call with tokens of the account.
    func call(
        _ account: Account,
        dpop: DPoPPolicy = .required,
        transport: any HTTPTransport = SignInScene.transport
    ) async throws -> HTTPResponse {
        let api = WebAPI(url: provider.baseURL + "/api1", scope: SignInScene.toDo)
        let application = try application(dpop: dpop, transport: transport)
        return try await application.transport(to: api, as: account)
            .send(HTTPRequest("GET", api.url + "/tasks?page=2#top"))
    }

    func expire() { provider.clock.advance(by: 3_601) }

    func key(_ account: Account.ID) throws -> BoundKey? { try store.boundKey(of: account, client: "b2c-app") }

    /// What the provider said to requests for a route, oldest first.
    func outcomes(_ route: String) -> [String] {
        provider.audit.entries.filter { $0.route == route }.map(\.outcome)
    }
}

/// A transport that changes what servers answer, and counts what it was asked to send.
final class ChangedResponses: HTTPTransport {
    private let sent = Mutex<[HTTPRequest]>([])
    private let change: @Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse

    init(_ change: @escaping @Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse) { self.change = change }

    /// The requests with a proof.
    var proofs: [String] { sent.withLock { $0.compactMap { $0.headers["dpop"] } } }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return change(request, try await SignInScene.transport.send(request, limits: limits))
    }

    /// Answers without the server.
    func answerAlone(_ request: HTTPRequest) -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return change(request, HTTPResponse(status: 500))
    }

    /// A server that wants another nonce each time, and takes nothing.
    static func demanding(_ nonces: [String]) -> ChangedResponses {
        ChangedResponses { request, response in
            guard request.headers["dpop"] != nil else { return response }
            let headers = HTTPHeaders(nonces.map { (name: "DPoP-Nonce", value: $0) })
            return HTTPResponse(status: 400, headers: headers, body: Secret(#"{"error":"use_dpop_nonce"}"#))
        }
    }
}
