import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import TestSupport
import Testing
import TokenStorage

/// Answers that must not sign anyone in: a clear error, and nothing stored.
struct DeviceCodeAttackTests {
    /// The error of a sign-in that a person approved, and that must leave nothing behind.
    private func failure(
        _ scene: DeviceScene,
        at authority: Authority? = nil,
        by transport: any HTTPTransport = DeviceScene.transport
    ) async throws -> SignInError {
        let error = try await scene.failure { try await scene.approved(at: authority, by: transport) }
        #expect(try scene.isEmpty)
        return error
    }

    @Test(arguments: [Fault.IDTokenFlaw.signature, .issuer, .audience, .expiry])
    func `an invalid ID token stores nothing, and its refresh token is revoked`(
        flaw: Fault.IDTokenFlaw
    ) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            scene.provider.faults.add(.wrongIDToken(flaw, times: 10))
            guard let found = try await failure(scene).idTokenFlaw else { throw ExpectationFailure("a flaw") }
            switch flaw {
            case .issuer: #expect(found == .issuer)
            case .audience: #expect(found == .audience)
            case .expiry: #expect(found == .expired)
            default: #expect(found == .signature || found == .unreadable)
            }
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }

    @Test func `tokens that no store takes are revoked`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let info = Base64URL.encode(#"{"uid":"another","utid":"5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"}"#.utf8)
            let forged = ChangedAnswers(DeviceScene.transport) { request, answer in
                if request.url.hasSuffix("/token") { answer["client_info"] = .string(info) }
            }
            let error = await #expect(throws: TokenStoreError.self) { try await scene.approved(by: forged) }
            #expect(error?.code == .otherAccount)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try scene.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `tokens that come for a sign-in that was cancelled meanwhile are revoked`(come: Bool) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let (asking, cancelled) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
            let watched = WatchedTransport(DeviceScene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                asking.continuation.yield()
                for await _ in cancelled.stream { break }
            }
            let device = try await scene.begin(by: watched, patience: .seconds(60))
            if come { scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) } }
            let signIn = Task { try await device.tokens() }
            for await _ in asking.stream { break }
            signIn.cancel()
            cancelled.continuation.yield()
            await #expect(throws: SignInError.cancelled) { try await signIn.value }
            #expect(scene.provider.audit.count(of: "token") == 1)
            #expect(scene.provider.audit.count(of: "revoke") == (come ? 1 : 0))
            #expect(try scene.isEmpty)
        }
    }

    @Test(arguments: ["none", "HS256"]) func `an unsigned ID token stores nothing`(algorithm: String) async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let unsigned = ChangedAnswers(DeviceScene.transport) { _, answer in
                guard let parts = answer["id_token"]?.text?.split(separator: ".") else { return }
                let header = Base64URL.encode(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8)
                answer["id_token"] = .string("\(header).\(parts[1]).\(algorithm == "none" ? "" : parts[2])")
            }
            guard try await failure(scene, by: unsigned).idTokenFlaw == .algorithm else {
                throw ExpectationFailure("a flaw")
            }
        }
    }

    @Test func `tokens put together from two answers store nothing`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let hash = Base64URL.encode([UInt8](repeating: 7, count: 16))
            let swapped = ChangedAnswers(DeviceScene.transport) { _, answer in
                guard let parts = answer["id_token"]?.text?.split(separator: ".") else { return }
                let claims = Base64URL.decode(parts[1].utf8).map { String(decoding: $0, as: UTF8.self) } ?? ""
                let payload = Base64URL.encode((claims.dropLast() + #","at_hash":"\#(hash)"}"#).utf8)
                answer["id_token"] = .string("\(parts[0]).\(payload).\(parts[2])")
            }
            guard try await failure(scene, by: swapped).idTokenFlaw == .accessToken else {
                throw ExpectationFailure("a flaw")
            }
        }
    }

    @Test func `oversized, missing and unreachable keys store nothing`() async throws {
        let junk = String(repeating: " ", count: 100 << 20)
        for fault in [
            Fault.answer(body: junk, at: "keys", times: nil), .status(503, at: "keys", times: nil),
            .answer(body: "{}", at: "keys", times: nil), .answer(body: #"{"keys":[]}"#, at: "keys", times: nil),
        ] {
            try await DeviceScene.open { (scene: DeviceScene) async throws in
                scene.provider.faults.add(fault)
                let error = try await failure(scene)
                switch (fault.status, fault.body?.utf8.count) {
                case (503, _): #expect(error.code == .unavailable)
                case (200, junk.utf8.count): #expect(error.networkError?.code == .tooLarge)
                case (200, 2): #expect(error.failure?.kind == .metadata(.incomplete("keys")))
                case (200, 11): #expect(error.idTokenFlaw == .unknownKey)
                default: throw ExpectationFailure("another error than \(error)")
                }
            }
        }
    }

    @Test func `keys and discovery at another host store nothing and are not fetched`() async throws {
        let rows = [("jwks_uri", "https://attacker.example/keys"), ("issuer", "https://attacker.example/v2.0")]
        for (name, value) in rows {
            for isOpenID in [true, false] {
                try await DeviceScene.open { (scene: DeviceScene) async throws in
                    let changed = ChangedAnswers(DeviceScene.transport) { request, answer in
                        if request.url.hasSuffix("openid-configuration") { answer[name] = .string(value) }
                    }
                    let authority = isOpenID ? try scene.openID : try scene.tenant
                    switch try await failure(scene, at: authority, by: changed).failure?.kind {
                    case .metadata(.foreignEndpoint(value))? where name == "jwks_uri": break
                    case .metadata(.otherIssuer(_, value))? where name == "issuer": break
                    case let error: throw ExpectationFailure("another error than \(String(describing: error))")
                    }
                    #expect(scene.provider.audit.count(of: "devicecode") == 0)
                }
            }
        }
    }

    @Test func `N70: keys that were rotated during the sign-in are fetched again`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let device = try await scene.begin()
            #expect(scene.provider.audit.count(of: "keys") == 1)
            // The next key is published before it signs, so only the one after it is unknown.
            for _ in 1...2 { try await scene.provider.rotateKeys(tenant: "fabrikvine.onmicrosoft.com") }
            scene.pauses.during(1) { try await Approver(DeviceScene.transport).approve(device) }
            _ = try await scene.signedIn(device)
            #expect(scene.provider.audit.count(of: "keys") == 2)
        }
    }

    @Test func `an issuer without a device endpoint is an error that says so`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            let issuer = try HandmadeIssuer()
            issuer.publish(JSONValue.Object([("jwks_uri", .string(issuer.issuer + "/keys"))]))
            issuer.answer(.init(#"{"keys":[]}"#), at: "/op/keys")
            let error = SignInError.noDeviceEndpoint(issuer.issuer)
            await #expect(throws: error) { try await scene.begin(at: Authority(issuer: issuer.issuer)) }
            #expect("\(error)" == "\(issuer.issuer) offers no sign-in with a device code; sign in with a browser")
        }
    }

    @Test func `an unknown client or scope is an error with the issuer's description`() async throws {
        try await DeviceScene.open { (scene: DeviceScene) async throws in
            for (client, scope) in [("nobody", "read"), (DeviceScene.client, "api://todolist/Nothing")] {
                let error = await #expect(throws: SignInError.self) {
                    try await scene.begin(client, scope: Scope(scope))
                }
                guard error?.code == .refused else {
                    throw ExpectationFailure("a refusal, not \(String(describing: error))")
                }
            }
        }
    }
}
