import Crypto
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import SignIn
import Testing
import TokenStorage

/// Tokens that an issuer in order never signs, and an issuer that is not in order.
struct ForgeryTests {
    @Test func `a genuine token is taken`() async throws {
        let issuer = try ForgedIssuer()
        let result = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) }
        #expect(result.account.name == "Noa Vidal")
        #expect(issuer.issuer.forms()[0]["client_info"] == nil)
    }

    @Test func `N70: a key that was published after the sign-in began is fetched, once`() async throws {
        let issuer = try ForgedIssuer()
        issuer.publish(keys: [])
        let result = try await issuer.signIn { issuer, nonce in
            issuer.publish(keys: [ForgedIssuer.publicKey(of: issuer.key)])
            return try issuer.genuine(issuer.claims(nonce: nonce))
        }
        #expect(result.account.name == "Noa Vidal")
        #expect(issuer.issuer.forms("/op/keys").count == 2)
        issuer.publish(keys: [])
        let error = try await signInError { _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) } }
        #expect(error == .invalidIDToken(.unknownKey))
        #expect(issuer.issuer.forms("/op/keys").count == 4)
    }

    @Test func `a sign-in replaces the documents that the refreshes before it used`() async throws {
        let issuer = try ForgedIssuer()
        let place = issuer.issuer.issuer
        let old = [
            (place, JSONValue.Object([("issuer", .string(place)), ("token_endpoint", .string(place + "/old"))])),
            (place + "/keys", JSONValue.Object([("keys", .array([]))])),
        ]
        for (url, document) in old { try issuer.store.saveIssuerDocument(document, url: url, lifetime: 86_400) }
        _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) }
        let (metadata, keys) = (try issuer.store.issuerDocument(place), try issuer.store.issuerDocument(old[1].0))
        #expect(metadata?["token_endpoint"] == .string(place + "/token"))
        #expect(keys?["keys"] == .array([ForgedIssuer.publicKey(of: issuer.key)]))
    }

    @Test func `a sign-in that is stored keeps the documents that it fetched, a refused one none`() async throws {
        let issuer = try ForgedIssuer()
        let place = issuer.issuer.issuer
        _ = try await signInError { _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1 + "x")) } }
        #expect(try issuer.store.issuerDocument(place) == nil)
        #expect(try issuer.store.issuerDocument(place + "/keys") == nil)
        _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) }
        let (metadata, keys) = try (issuer.store.issuerDocument(place), issuer.store.issuerDocument(place + "/keys"))
        #expect(metadata?["token_endpoint"] == .string(place + "/token"))
        #expect(keys?["keys"] == .array([ForgedIssuer.publicKey(of: issuer.key)]))
    }

    @Test func `a token signed with another key is refused`() async throws {
        let issuer = try ForgedIssuer()
        let error = try await signInError {
            _ = try await issuer.signIn { issuer, nonce in
                let other = P256.Signing.PrivateKey()
                return try issuer.token(#"{"alg":"ES256","kid":"k1"}"#, issuer.claims(nonce: nonce)) {
                    try other.signature(for: $0).rawRepresentation
                }
            }
        }
        #expect(error == .invalidIDToken(.signature))
        #expect(try issuer.isUntouched)
    }

    @Test func `an encrypted token is said to be one, which the client's registration is to change`() async throws {
        let issuer = try ForgedIssuer()
        let error = try await signInError { _ = try await issuer.signIn { _, _ in "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d" } }
        #expect(error == .invalidIDToken(.encrypted))
        #expect(error?.problem == "the issuer's ID token is encrypted, and there is no key to open it")
        #expect(error?.remedy?.code == .checkRegistration)
        #expect(try issuer.isUntouched)
    }

    @Test func `alg none and an HMAC under the public key are refused`() async throws {
        let issuer = try ForgedIssuer()
        let none = try await signInError {
            _ = try await issuer.signIn { issuer, nonce in
                issuer.token(#"{"alg":"none"}"#, issuer.claims(nonce: nonce)) { _ in Data() }
            }
        }
        let confused = try await signInError {
            _ = try await issuer.signIn { issuer, nonce in
                let key = SymmetricKey(data: issuer.key.publicKey.rawRepresentation)
                return issuer.token(#"{"alg":"HS256","kid":"k1"}"#, issuer.claims(nonce: nonce)) {
                    Data(HMAC<SHA256>.authenticationCode(for: $0, using: key))
                }
            }
        }
        #expect(none == .invalidIDToken(.algorithm))
        #expect(confused == .invalidIDToken(.algorithm))
        #expect(try issuer.isUntouched)
    }

    @Test func `an ID token with a wrong nonce, or none, is refused`() async throws {
        let issuer = try ForgedIssuer()
        let other = try await signInError { _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1 + "x")) } }
        #expect(other == .invalidIDToken(.nonce))
        let missing = try await signInError {
            _ = try await issuer.signIn { issuer, nonce in
                var claims = issuer.claims(nonce: nonce)
                claims["nonce"] = nil
                return try issuer.genuine(claims)
            }
        }
        #expect(missing == .invalidIDToken(.nonce))
        #expect(try issuer.isUntouched)
    }

    @Test func `metadata that names another issuer is refused before the browser opens`() async throws {
        let issuer = try ForgedIssuer(["issuer": "https://other.example"])
        let error = try await signInError { _ = try await issuer.signIn { _, _ in "" } }
        guard case .metadata(.otherIssuer)? = error?.failure?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try issuer.isUntouched)
        #expect(!issuer.hasAsked)
    }

    @Test(arguments: [true, false])
    func `an issuer that wants pushed requests is refused before the browser opens`(hasDevice: Bool) async throws {
        let issuer = try ForgedIssuer([
            "require_pushed_authorization_requests": .bool(true),
            "device_authorization_endpoint": hasDevice ? "http://127.0.0.1:1/device" : .null,
        ])
        let error = try await signInError { _ = try await issuer.signIn { _, _ in "" } }
        #expect(error?.code == .pushedRequests)
        #expect(error?.problem.hasPrefix(issuer.issuer.issuer) == true)
        #expect(error?.remedy?.code == (hasDevice ? Remedy.Code.useDevice : .askOperator))
        #expect(try issuer.isUntouched)
        #expect(!issuer.hasAsked)
    }

    @Test(arguments: [true, false])
    func `an issuer that wants signed requests is refused before the browser opens`(hasDevice: Bool) async throws {
        let issuer = try ForgedIssuer([
            "require_signed_request_object": .bool(true),
            "device_authorization_endpoint": hasDevice ? "http://127.0.0.1:1/device" : .null,
        ])
        let error = try await signInError { _ = try await issuer.signIn { _, _ in "" } }
        #expect(error?.code == .metadata)
        #expect(error?.problem.contains("RFC 9101") == true)
        #expect(error?.remedy?.code == (hasDevice ? Remedy.Code.useDevice : .askOperator))
        #expect(try issuer.isUntouched)
        #expect(!issuer.hasAsked)
    }

    @Test func `keys of 100 MB are refused before the browser opens`() async throws {
        let issuer = try ForgedIssuer()
        issuer.issuer.answer(.init(String(repeating: " ", count: 100 << 20)), at: "/op/keys")
        let error = try await signInError { _ = try await issuer.signIn { _, _ in "" } }
        guard error?.networkError?.code == .tooLarge else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try issuer.isUntouched)
        #expect(!issuer.hasAsked)
    }

    @Test func `an expired token, another client's and another issuer's are refused`() async throws {
        let issuer = try ForgedIssuer()
        let rows: [(String, JSONValue, IDTokenFlaw)] = [
            ("exp", .number("1"), .expired), ("aud", "other", .audience), ("iss", "https://other.example", .issuer),
        ]
        for (name, value, flaw) in rows {
            let error = try await signInError {
                _ = try await issuer.signIn { issuer, nonce in
                    var claims = issuer.claims(nonce: nonce)
                    claims[name] = value
                    return try issuer.genuine(claims)
                }
            }
            #expect(error == .invalidIDToken(flaw))
        }
        #expect(try issuer.isUntouched)
    }

    @Test func `an answer without iss is refused when the metadata promises one`() async throws {
        let issuer = try ForgedIssuer(["authorization_response_iss_parameter_supported": .bool(true)])
        let silent = try await signInError { _ = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) } }
        #expect(silent == .invalidAnswer("does not say which issuer it is from"))
        #expect(try issuer.isUntouched)
        let named = "&iss=" + FormText.encoded(issuer.issuer.issuer)
        let result = try await issuer.signIn(answering: named) { try $0.genuine($0.claims(nonce: $1)) }
        #expect(result.idToken.claims.subject == "s-1")
    }

    @Test(arguments: [
        ("error=access_denied", true), ("error=user_cancelled_login", true), ("error=authorization_declined", true),
        ("error=invalid_scope", false),
    ])
    func `a refusal without iss counts, because no code is redeemed for it`(
        refusal: String,
        isCancelled: Bool
    ) async throws {
        let issuer = try ForgedIssuer(["authorization_response_iss_parameter_supported": .bool(true)])
        func error(_ refusal: String, naming name: String = "") async throws -> SignInError? {
            try await signInError {
                _ = try await issuer.signIn(answering: name, bringing: refusal) { _, _ in "" }
            }
        }
        let expected: SignInError = isCancelled ? .cancelled : .refused(OAuthError(code: .invalidScope, status: 0))
        #expect(try await error(refusal) == expected)
        // With a code beside it, or from another issuer, it is nothing to believe.
        #expect(try await error(refusal + "&code=c") == .invalidAnswer("does not say which issuer it is from"))
        let other = try await error(refusal, naming: "&iss=https%3A%2F%2Fother.example")
        #expect(other == .otherIssuer(expected: issuer.issuer.issuer, found: "https://other.example"))
        #expect(try issuer.isUntouched)
        #expect(issuer.issuer.forms().isEmpty)
    }

    @Test func `the issuer's words say whether the person cancelled or was refused`() async throws {
        let issuer = try ForgedIssuer([:])
        func error(_ words: String) async throws -> SignInError? {
            let answer = "error=access_denied&error_description=" + FormText.encoded(words)
            return try await signInError { _ = try await issuer.signIn(bringing: answer) { _, _ in "" } }
        }
        #expect(try await error("AADB2C90091: The user has cancelled entering information.") == .cancelled)
        #expect(try await error("AADSTS65004: User declined to consent to access the app.") == .cancelled)
        let refused = try await error("User is not assigned to the client application.")
        #expect(refused?.code == .cancelled)
        #expect(refused?.problem.hasSuffix("access_denied: User is not assigned to the client application") == true)
        // Words that a cancelled sign-in has too.
        for words in ["Account closed", "Refused by policy 7", "Le client a été refusé", "Cancel your other session"] {
            let error = try await error(words)
            #expect(error?.code == .cancelled)
            #expect(error?.refusal?.serverDescription == words)
            #expect(
                error?.problem == "the sign-in was cancelled or refused: the issuer answered access_denied: \(words)"
            )
        }
    }

    @Test(
        arguments: [("60", nil), ("60", 0), ("60", -200), ("60", 300), ("0", -30), ("3600", -200)] as [(String, Int64?)]
    )
    func `a sign-in that is older than was asked for is refused`(maximum: String, signedIn: Int64?) async throws {
        let issuer = try ForgedIssuer()
        var request = InteractiveRequest(scope: "read")
        request.extraParameters = ["max_age": maximum]
        let error = try await signInError { [request] in
            _ = try await issuer.signIn(request) { issuer, nonce in
                var claims = issuer.claims(nonce: nonce)
                claims["auth_time"] = signedIn.map { .number("\(1_790_000_000 + $0)") }
                return try issuer.genuine(claims)
            }
        }
        let flaws: [Int64?: IDTokenFlaw] = [nil: .missing("auth_time"), -200: .oldSignIn, 300: .oldSignIn]
        #expect(error == (maximum == "3600" ? nil : flaws[signedIn].map { .invalidIDToken($0) }))
        #expect(error?.neededPrompt == (error?.idTokenFlaw == .oldSignIn ? .login : nil))
        #expect(issuer.asked("max_age") == maximum)
    }

    @Test(arguments: ["", "-1", "+1", "1.5", "soon", "99999999999999999999"])
    func `an age that is no number of seconds is refused before any page`(text: String) async throws {
        let issuer = try ForgedIssuer()
        var request = InteractiveRequest(scope: "read")
        request.extraParameters = ["max_age": text]
        let error = try await signInError { [request] in _ = try await issuer.signIn(request) { _, _ in "" } }
        #expect(error?.code == .invalidRequest)
        #expect(!issuer.hasAsked)
    }

    @Test func `when the user signed in has to be told where that was asked for as essential`() async throws {
        for isEssential in [true, false] {
            let issuer = try ForgedIssuer()
            var request = InteractiveRequest(scope: "read")
            request.claims = ["id_token": ["auth_time": ["essential": .bool(isEssential)]]]
            let error = try await signInError { [request] in
                _ = try await issuer.signIn(request) { try $0.genuine($0.claims(nonce: $1)) }
            }
            #expect(error == (isEssential ? .invalidIDToken(.missing("auth_time")) : nil))
        }
    }

    @Test func `a scope that the issuer does not support is not requested`() async throws {
        let issuer = try ForgedIssuer(["scopes_supported": ["openid", "read"]])
        let result = try await issuer.signIn { try $0.genuine($0.claims(nonce: $1)) }
        #expect(issuer.asked("scope") == "openid read")
        #expect(result.account.name == "Noa Vidal")
    }
}
