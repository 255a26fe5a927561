package import HTTPTransport
package import OAuth

/// An issuer's token endpoint ([RFC 6749 §3.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.2)).
package struct TokenEndpoint: Sendable {
    package let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// Sends a token request, once: `parameters` are all but `grant_type`, `now` is the caller's clock in Unix seconds.
    ///
    /// - Throws: `OAuthError` for a refusal and for an answer that wants a browser, ``IssuerUnavailable`` for 408, 429,
    ///   5xx and `Retry-After` without a refusal, ``UnusableAnswer`` for any other answer, `HTTPTransportError`.
    package func send(_ grant: Grant, _ parameters: FormParameters, now: Int64) async throws -> TokenEndpointAnswer {
        var form = parameters
        form.append("grant_type", grant.rawValue)
        var request = HTTPRequest.form(form, to: url)
        // Asking again whether a person has decided does no harm; what redeems a code or a token goes once.
        request.isIdempotent = grant == .deviceCode
        let response = try await transport.send(request, limits: limits)
        // Only an object can carry tokens or an error; everything else is judged by its status.
        let object = response.jsonObject(forgiving: true)
        if IssuerUnavailable.isMeant(by: response.status) { throw IssuerUnavailable(response, now: now) }
        let tokens = object.map { TokenResponse($0) }
        // Some issuers send errors with status 200; beside tokens that are nowhere else, `error` says nothing.
        let hasTokens = response.isSuccess && tokens?.hasTokens ?? false
        if !hasTokens, let object,
            var refusal = OAuthError(object, status: response.status) ?? OAuthError(redirect: object, response.status)
        {
            form.conceal(object.answeredTokens)
            refusal.retryAfter = response.retryAfter(now: now)
            throw form.redacting(refusal)
        }
        // A proxy in front of an issuer may throttle requests, without an OAuth error.
        guard response.isSuccess || response.headers["retry-after"] == nil else {
            throw IssuerUnavailable(response, now: now)
        }
        // RFC 6749 §5.1 has 200 alone; but tokens that come with another success are in no other answer.
        guard response.isSuccess, let tokens, tokens.hasTokens else {
            form.conceal(object?.answeredTokens ?? [])
            let said = object.flatMap { form.redacting(OAuthError(foreign: $0, response.status)).serverDescription }
            throw UnusableAnswer(
                status: response.status,
                isJSON: object != nil,
                isEmpty: response.body.count == 0,
                serverDescription: said
            )
        }
        form.conceal(object?.answeredTokens ?? [])
        return try answer(response, tokens.withoutEchoes(of: form))
    }

    /// The same, and the answer is waited for when the task is cancelled: see ``runToTheEnd(patience:_:)``.
    ///
    /// - Throws: what ``send(_:_:now:)`` throws, or `CancellationError` where the task was cancelled.
    package func sendToTheEnd(
        _ grant: Grant,
        _ form: FormParameters,
        now: Int64,
        patience: Duration? = nil
    ) async throws -> TokenEndpointAnswer {
        try await runToTheEnd(patience: patience) { try await send(grant, form, now: now) }
    }

    private func answer(_ response: HTTPResponse, _ tokens: TokenResponse) throws -> TokenEndpointAnswer {
        var tokens = tokens
        // The session may have ended with it; what else came is nothing to go on with.
        if tokens.malformedFields.contains("refresh_token") { try tokens.requireTokenText() }
        let issuerNow = response.headers["date"].flatMap(HTTPDate.seconds)
        // The end of a token counts from the issuer's clock, which may differ from ours by minutes.
        if tokens.expiresIn == nil, let end = tokens.expiresOn, let issuerNow {
            tokens.expiresIn = .seconds(max(0, end.unixSeconds - issuerNow))
        }
        return TokenEndpointAnswer(response: tokens, issuerNow: issuerNow)
    }
}

/// Runs work that must not end halfway, such as a request that is answered with tokens.
///
/// If the task is cancelled, the answer is still waited for: otherwise its tokens could not be revoked.
///
/// It is waited for `patience` at most, or until the work ends by itself if that is nil.
///
/// - Throws: what `work` throws, or `CancellationError` where the task was cancelled.
package func runToTheEnd<Answer: Sendable>(
    patience: Duration? = nil,
    _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
    try Task.checkCancellation()
    let running = Task { try await work() }
    do {
        return try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            guard let patience else { return }
            Task {
                try await Task.sleep(for: patience)
                running.cancel()
            }
        }
    } catch {
        try Task.checkCancellation()
        throw error
    }
}

extension OAuthError {
    /// What a tenant with native authentication answers with success where a person has to go on in a browser.
    fileprivate init?(redirect object: JSONValue.Object, _ status: Int) {
        guard status == 200, object["challenge_type"]?.text == "redirect" else { return nil }
        self.init(code: .interactionRequired, serverDescription: object["redirect_reason"]?.text, status: status)
    }

    /// What an issuer says in other words than OAuth's, as those of Okta, Google and Amazon's gateways are.
    fileprivate init(foreign object: JSONValue.Object, _ status: Int) {
        let said = ["error_description", "errorSummary", "message"].lazy.compactMap { object[$0]?.text }.first
        self.init(
            code: .unknown,
            serverDescription: said ?? object["error"]?.object?["message"]?.text,
            status: status
        )
    }
}

extension HTTPRequest {
    static func form(_ form: FormParameters, to url: String) -> HTTPRequest {
        HTTPRequest(
            "POST",
            url,
            headers: ["content-type": "application/x-www-form-urlencoded", "accept": "application/json"],
            body: form.encoded
        )
    }
}

/// Tokens, and what the issuer's clock said when it sent them.
package struct TokenEndpointAnswer: Sendable {
    package var response: TokenResponse

    /// Unix seconds; nil where the answer had no `Date`.
    package let issuerNow: Int64?

    package init(response: TokenResponse, issuerNow: Int64? = nil) {
        self.response = response
        self.issuerNow = issuerNow
    }
}

/// The answer of a token endpoint that is neither tokens nor an OAuth error.
package struct UnusableAnswer: Error, Hashable, CustomStringConvertible {
    package let status: Int

    /// Whether the body was a JSON object at least.
    package let isJSON: Bool

    /// Whether there was no body; what stands before an issuer answers with a page.
    package let isEmpty: Bool

    /// The field whose text RFC 6749 does not allow, if that is the fault.
    package let malformedField: String?

    /// The type of the access token, if it is one that nothing here can use.
    package let unknownType: String?

    /// What the issuer says, for the operator of the client.
    package let serverDescription: String?

    package init(
        status: Int,
        isJSON: Bool,
        isEmpty: Bool = false,
        malformedField: String? = nil,
        unknownType: String? = nil,
        serverDescription: String? = nil
    ) {
        self.status = status
        self.isJSON = isJSON
        self.isEmpty = isEmpty
        self.malformedField = malformedField
        self.unknownType = unknownType
        self.serverDescription = serverDescription
    }

    package var problem: String {
        if let malformedField {
            return "the answer of the token endpoint has characters in \(malformedField) that RFC 6749 forbids, and it "
                + "was not used"
        }
        if let unknownType {
            return "the token endpoint sent a token of the type '\(unknownType)', which is neither Bearer nor DPoP"
        }
        let answered = "the token endpoint answered \(status) \(isJSON ? "without tokens" : "without JSON")"
        let line = OAuthError.shown(serverDescription)
        return line.isEmpty ? answered : "\(answered): \(line)"
    }

    package var remedy: Remedy {
        guard malformedField == nil, unknownType == nil else {
            return Remedy(.askOperator, "report it to the operator of the issuer")
        }
        // RFC 6749 §5.2: the status for a client that is unknown, or that has to prove who it is.
        guard status == 401 else { return Remedy(.checkSource, "check the authority, and any proxy in front of it") }
        return Remedy(
            .checkRegistration,
            "check the client id, that its registration needs no secret, and any proxy in front of the issuer"
        )
    }

    package var description: String { problem }
}

extension TokenResponse {
    /// Whether it has a token, or what was to be one.
    fileprivate var hasTokens: Bool {
        accessToken != nil || refreshToken != nil || idToken != nil || !malformedFields.isEmpty
    }

    /// How an access token is used is known of these alone (RFC 6749 §7.1).
    private static func isKnown(type: String) -> Bool {
        let lowered = type.lowercased()
        return ["bearer", "dpop"].contains { $0.hasSameBytes(as: lowered) }
    }

    /// The response without the secrets of a form in what is shown, logged and kept in the clear.
    fileprivate func withoutEchoes(of form: FormParameters) -> TokenResponse {
        var response = self
        if let type = tokenType, !Self.isKnown(type: type) {
            response.tokenType = form.redactingAllButWords(type)
        }
        response.scope = scope.map { form.redacting($0) }
        response.familyID = familyID.map { form.redactingAllButWords($0) }
        return response
    }

    /// Refuses tokens that no terminal and no header is to meet, and those of a type that is not known.
    ///
    /// - Throws: ``UnusableAnswer``; the refresh token of such an answer may be good all the same.
    package func requireTokenText() throws(UnusableAnswer) {
        if let field = malformedFields.first {
            throw UnusableAnswer(status: 200, isJSON: true, malformedField: field)
        }
        guard accessToken != nil, let type = tokenType, !Self.isKnown(type: type) else { return }
        throw UnusableAnswer(status: 200, isJSON: true, unknownType: type)
    }
}
