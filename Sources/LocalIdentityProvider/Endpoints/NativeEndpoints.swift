/// Native authentication: sign-in, sign-up and password reset without a browser.
struct NativeEndpoints: Sendable {
    let state: ProviderState
    let request: ClientRequest

    var form: Parameters { request.form }
    var client: Client { request.client }
    var tenant: Tenant { request.realm.tenant }

    func respond() async throws -> Reply {
        switch request.exchange.route {
        case .initiate: try await initiate()
        case .challenge: try await challenge()
        case .introspect: try await introspect()
        case .signUpStart: try await startSignUp()
        case .signUpChallenge: try await challengeSignUp()
        case .signUpContinue: try await continueSignUp()
        case .registerIntrospect: try await introspectRegistration()
        case .registerChallenge: try await challengeRegistration()
        case .registerContinue: try await continueRegistration()
        case .resetStart: try await startReset()
        case .resetChallenge: try await challengeReset()
        case .resetContinue: try await continueReset()
        case .resetSubmit: try await submitReset()
        case .resetPoll: try await pollReset()
        default: throw ProtocolError.unknownRoute
        }
    }

    /// The methods the client can handle; `redirect` must be among them.
    func challengeTypes() throws -> Set<String> {
        let types = Set(try form.requiredList("challenge_type"))
        guard types.contains("redirect") else { throw ProtocolError.redirectMissing }
        return types
    }

    // MARK: Steps of a flow

    func begin(_ username: String, _ userID: String?, for route: Route, change: (inout Flow) -> Void = { _ in })
        async throws -> Reply
    {
        var flow = Flow(request, username: username, userID: userID, now: state.clock.now)
        change(&flow)
        return try .json(["continuation_token": .string(await state.flows.begin(flow, for: [route]))])
    }

    func repeatStep(for routes: Set<Route>, change: @Sendable (inout Flow) -> Void = { _ in }) async throws -> JSON {
        .string(try await state.flows.repeatStep(request, for: routes, change: change))
    }

    func advance(for routes: Set<Route>, change: @Sendable (inout Flow) -> Void) async throws -> JSON {
        .string(try await state.flows.advance(request, for: routes, change: change))
    }

    func userID(of flow: Flow) throws -> String {
        guard let userID = flow.userID else { throw ProtocolError.badContinuation(at: request.exchange.route) }
        return userID
    }

    func user(of flow: Flow) async throws -> User { try await state.users.user(userID(of: flow)) }

    // MARK: Codes

    /// Sends a code, repeats the step and says where the code went.
    func sendCode(
        _ flow: Flow,
        to method: AuthMethod,
        purpose: String,
        for routes: Set<Route>,
        change: @Sendable (inout Flow) -> Void
    ) async throws -> Reply {
        try await state.flows.sendCode(for: flow, to: method, purpose: purpose)
        return try .json([
            "continuation_token": try await repeatStep(for: routes, change: change), "challenge_type": "oob",
            "binding_method": "prompt", "challenge_channel": .string(method.channel),
            "challenge_target_label": .string(Masked.contact(method.target)), "code_length": 8,
            "interval": .integer(Lifetime.resendInterval),
        ])
    }

    func checkCode(_ flow: Flow) async throws { try await state.flows.checkCode(form.required("oob"), of: flow) }

    // MARK: Answers

    func passwordExpected(_ token: JSON) throws -> Reply {
        try .json(["continuation_token": token, "challenge_type": "password"])
    }

    /// Moves the flow on and answers with the token for `route`.
    func proceed(to route: Route, change: @Sendable (inout Flow) -> Void) async throws -> Reply {
        let token = try await advance(for: [route], change: change)
        return try .json(["continuation_token": token, "expires_in": .integer(Lifetime.continuationToken)])
    }

    /// Sends the client to the browser.
    func redirect(_ reason: String) throws -> Reply {
        try .json(["challenge_type": "redirect", "redirect_reason": .string(reason)], outcome: "redirect")
    }
}
