import Crypto
import OAuth
import OpenIDConnect

/// One authorization request and the secrets that tie its answer to it
/// ([RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1)).
struct AuthorizationRequest: Sendable {
    let issuer: IssuerMetadata
    let clientID: String

    /// With the port that is listened on.
    let redirectURI: String
    let scope: Scope

    /// The `claims` parameter, which the code is redeemed with too.
    let claims: JSONValue?

    /// The API that the tokens are for, which the code is redeemed with too
    /// ([RFC 8707 §2](https://www.rfc-editor.org/rfc/rfc8707#section-2)).
    let resource: String?

    /// What the answer has to repeat; the pending redirect takes no other.
    let state: Secret

    /// The new key that the tokens are to be bound to.
    let dpopKey: DPoPKey?
    var nonce = Secret.random()
    var proofKey = ProofKey()

    /// How many seconds ago the person may have signed in, where the request says so.
    var maximumAge: Int64?

    /// When it was made: what the person does on the pages after that makes a sign-in no older.
    var begun: Int64?

    /// Refuses a scope that cannot be stored, and extra parameters that would change what the answer is checked against.
    static func check(_ request: InteractiveRequest) throws(SignInError) {
        try SignInError.requireText(request.scope)
        try SignInError.requireText(request.extraScopesToConsent)
        try SignInError.requireValid(request.extraParameters)
    }

    /// The address that the person opens.
    func address(_ request: InteractiveRequest) throws(SignInError) -> String {
        guard let endpoint = issuer.authorizationEndpoint else {
            throw .metadata(.incomplete("authorization_endpoint"))
        }
        // Its page would not come back.
        guard !issuer.requiresPushedRequests else { throw .pushedRequests(issuer) }
        guard !issuer.requiresSignedRequests else { throw .signedRequests(issuer) }
        var form = FormParameters()
        form.append("client_id", clientID)
        form.append("response_type", "code")
        form.append("redirect_uri", redirectURI)
        form.append("scope", Scope(scope.tokens + request.extraScopesToConsent.tokens).text)
        form.append("state", state)
        form.append("nonce", nonce)
        form.append(proofKey)
        form.append("dpop_jkt", dpopKey?.thumbprint)
        form.append("prompt", request.prompt?.rawValue)
        // An app's own parameter goes before ours: nothing is to be in the address twice (RFC 6749 §3.1).
        for (name, value) in [("login_hint", request.hint), ("domain_hint", request.domainHint)]
        where request.extraParameters[name] == nil { form.append(name, value) }
        form.append("claims", claims?.serialized)
        // The query is what every issuer uses for a code unless asked otherwise.
        form.append("response_mode", request.responseMode == .query ? nil : request.responseMode.rawValue)
        form.append(request.extraParameters)
        return form.address(of: endpoint)
    }

    /// What an ID token that comes for the code is checked by.
    func validator(beside accessToken: Secret?, at now: Int64) -> IDTokenValidator {
        var validator = IDTokenValidator(issuer: issuer.issuer, clientID: clientID)
        validator.nonce = nonce.reveal()
        validator.accessToken = accessToken
        let spent = begun.map { max(0, now - $0) } ?? 0
        validator.maximumAge = maximumAge.map { min($0, .max - spent) + spent }
        let wanted = claims?.object?["id_token"]?.object?["auth_time"]?.object
        validator.requiresSignInTime = wanted?["essential"] == .bool(true)
        return validator
    }

    /// The code of an answer to this very request.
    ///
    /// - Throws: ``SignInError`` if it comes from another issuer, or is a refusal.
    func code(in answer: AuthorizationResponse) throws(SignInError) -> Secret {
        try checkIssuer(of: answer)
        if let refusal = answer.refusal { throw SignInError(concealing(answer).redacting(refusal)) }
        guard let code = answer["code"], code.count > 0 else { throw .invalidAnswer("has no code") }
        return code
    }

    /// The `iss` parameter ([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207)): a code for one issuer is never sent to
    /// another.
    ///
    /// A refusal without it is believed: some issuers leave it out there, and nothing is redeemed for a refusal.
    private func checkIssuer(of answer: AuthorizationResponse) throws(SignInError) {
        guard let found = answer["iss"]?.reveal() else {
            if answer.refusal != nil, answer["code"] == nil { return }
            if case .bool(true) = issuer.document["authorization_response_iss_parameter_supported"] {
                throw .invalidAnswer("does not say which issuer it is from")
            }
            return
        }
        guard Self.names(found, issuer.issuer) else {
            throw .otherIssuer(expected: issuer.issuer, found: concealing(answer).redacting(found))
        }
    }

    /// A form that redacts what is secret in the redirect.
    private func concealing(_ answer: AuthorizationResponse) -> FormParameters {
        var form = FormParameters()
        form.conceal([answer["code"], state, nonce].compactMap(\.self))
        return form
    }

    /// Whether `issuer` is `pattern`, in which Microsoft's metadata for many tenants has a place for one.
    private static func names(_ issuer: String, _ pattern: String) -> Bool {
        // A search takes quadratic time on combining marks.
        guard pattern.utf8.allSatisfy({ $0 < 0x80 }), let place = pattern.firstRange(of: "{tenantid}") else {
            return issuer.hasSameBytes(as: pattern)
        }
        let (before, after) = (pattern[..<place.lowerBound].utf8, pattern[place.upperBound...].utf8)
        let bytes = issuer.utf8
        guard bytes.starts(with: before), bytes.suffix(after.count).elementsEqual(after) else { return false }
        return ClientInfo.isTenantID(Substring(bytes.dropFirst(before.count).dropLast(after.count)))
    }
}

extension InteractiveRequest {
    /// Whose name is filled in.
    var hint: String? { account?.loginHint ?? loginHint }

    /// How many seconds ago the person may have signed in (OpenID Connect Core §3.1.2.1).
    var maximumAge: Int64? { extraParameters["max_age"].flatMap(SignInError.maximumAge) }
}

extension SignInError {
    /// Parameters that an app may not set: they are ours, or would move the answer elsewhere.
    private static let reserved: Set<String> = [
        "client_id", "client_secret", "code_challenge", "code_challenge_method", "claims", "dpop_jkt", "id_token_hint",
        "nonce", "prompt", "redirect_uri", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ]

    /// Makes sure that an app's own parameters of a request take the place of none that a sign-in sets, and that the one
    /// which the answer is checked by can be read.
    package static func requireValid(_ parameters: [String: String]) throws(SignInError) {
        if let name = parameters.keys.sorted().first(where: { reserved.contains($0.lowercased()) }) {
            throw .invalidRequest("the parameter \(name) is set by the sign-in itself", .correct("leave it out"))
        }
        guard let age = parameters["max_age"], maximumAge(age) == nil else { return }
        throw .invalidRequest(
            "the parameter max_age is not a whole number of seconds",
            .correct("give one such as max_age=3600")
        )
    }

    /// The seconds of a `max_age`; nil for any other text.
    fileprivate static func maximumAge(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}

extension FormParameters {
    /// Appends an app's own parameters, in a fixed order.
    mutating func append(_ parameters: [String: String]) {
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { append(name, value) }
    }
}

/// Proves that the client which redeems a code is the one that requested it ([RFC
/// 7636](https://www.rfc-editor.org/rfc/rfc7636)).
struct ProofKey: Sendable {
    /// Sent with the code, never before.
    var verifier = Secret.random()

    /// Sent with the authorization request; S256 is the only method.
    var challenge: String { verifier.withUnsafeBytes { Base64URL.encode(SHA256.hash(data: $0)) } }
}

extension FormParameters {
    mutating func append(_ proofKey: ProofKey) {
        append("code_challenge", proofKey.challenge)
        append("code_challenge_method", "S256")
    }
}

extension Secret {
    /// A text of 256 bits from the kernel's randomness.
    static func random() -> Secret {
        SymmetricKey(size: .bits256).withUnsafeBytes { Secret(Base64URL.encode($0)) }
    }
}

extension FormParameters {
    /// The address of a page with these parameters in its query.
    func address(of page: String) -> String {
        // A space as %20 is read alike by those that know forms and those that know addresses only.
        let query = encoded.reveal().replacing("+", with: "%20")
        return page + (page.contains("?") ? "&" : "?") + query
    }
}
