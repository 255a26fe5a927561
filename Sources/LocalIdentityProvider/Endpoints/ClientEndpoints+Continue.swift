import OAuth

/// How native flows move on (E03, E07, E10, E13, E14 and E15). After a refusal the continuation token stays valid.
extension ClientEndpoints {
    /// Takes what the request proves at the step where its flow is, and answers what follows.
    func proceed() async throws -> Reply {
        var flow = try await open()
        try await prove(&flow)
        switch flow.step {
        case .signUpCode, .signUpPassword, .signUpAttributes: return try await proceedSignUp(flow)
        case .resetCode: return try await advance(flow, to: .newPassword)
        case .registration:
            guard let contact = flow.contact else { throw ProtocolError.badContinuation(at: exchange.route) }
            let reply = try await advance(flow, to: .tokens)
            await state.users.add(contact, to: flow.userID ?? "")
            return reply
        default: return try await finish(flow)
        }
    }

    private func prove(_ flow: inout Flow) async throws {
        switch (try form.required("grant_type"), flow.step) {
        case ("oob", .code), ("oob", .signUpCode), ("oob", .resetCode):
            try await checkCode(flow)
            flow.methods.append("otp")
            flow.verified.insert(flow.username)
        case ("oob", .secondFactor), ("mfa_oob", .secondFactor),
            ("oob", .registration) where !flow.isPreverified:
            try await checkCode(flow)
            flow.methods += ["otp", "mfa"]
        case ("continuation_token", .registration) where flow.isPreverified: flow.methods += ["otp", "mfa"]
        case ("password", .password):
            try await state.users.checkPassword(form.required("password"), of: user(of: flow))
            flow.methods.append("pwd")
        case ("password", .signUpPassword):
            flow.password = try PasswordPolicy.hash(form.required("password"), for: flow.username)
            flow.methods.append("pwd")
        case ("attributes", .signUpAttributes):
            flow.attributes.merge(try tenant.accepted(form.required("attributes"))) { $1 }
        case ("attributes", .signUpCode): throw ProtocolError.verificationRequired
        case ("continuation_token", .tokens): break
        default: throw ProtocolError.badContinuation(at: exchange.route)
        }
    }

    private func checkCode(_ flow: Flow) async throws {
        try await state.codes.check(form.required("oob"), of: flow.id)
    }

    // MARK: Moving on

    /// Invalidates the step's tokens and returns one for `step`.
    private func token(_ flow: Flow, for step: Flow.Step) async throws -> JSONValue {
        var flow = flow
        flow.step = step
        let token = try await state.flows.advance(flow, at: exchange.route)
        await state.codes.forget(flow.id)
        return .string(token)
    }

    private func advance(_ flow: Flow, to step: Flow.Step) async throws -> Reply {
        let expiry = JSONValue.integer(Lifetime.continuationToken)
        return .object(["continuation_token": try await token(flow, for: step), "expires_in": expiry])
    }

    /// Asks for the missing attributes, or creates the user.
    private func proceedSignUp(_ flow: Flow) async throws -> Reply {
        if client.signUpMethod == .password, flow.password == nil {
            throw ProtocolError.credentialRequired.with([
                "continuation_token": try await token(flow, for: .signUpPassword)
            ])
        }
        let missing = tenant.missing(on: client.attributePages, given: flow.attributes)
        guard missing.isEmpty else {
            throw ProtocolError.attributesRequired.with([
                "continuation_token": try await token(flow, for: .signUpAttributes),
                "required_attributes": .array(missing.map(\.requirement)),
            ])
        }
        var flow = flow
        flow.userID = try await state.users.create(
            flow.username,
            in: tenant,
            password: flow.password,
            attributes: flow.attributes
        ).id
        return try await advance(flow, to: .tokens)
    }

    /// Issues tokens for what the flow has proved, or asks for the second factor it lacks.
    private func finish(_ flow: Flow) async throws -> Reply {
        var flow = flow
        let user = try await user(of: flow)
        guard form["username"].map({ $0.lowercased() == flow.username }) ?? true else {
            throw ProtocolError.badContinuation(at: .token)
        }
        guard !user.mustResetPassword else { throw ProtocolError.mustReset }
        flow.claims = form["claims"] ?? flow.claims
        flow.scope = form["scope"] ?? flow.scope
        let contexts = ClaimsRequest.contexts(flow.claims)
        let hasSecondFactor = flow.methods.contains("mfa")
        if client.secondFactor.applies(to: contexts), !hasSecondFactor {
            let error = user.methods.isEmpty ? ProtocolError.registrationRequired : .secondFactorRequired
            guard flow.capabilities.contains(error.suberror ?? "") else {
                return try redirect("The client did not announce \(error.suberror ?? "").")
            }
            let token = try await token(flow, for: user.methods.isEmpty ? .registration : .secondFactor)
            throw error.with(["continuation_token": token])
        }
        let mint = try await mint(user.id, flow.scope)
        try await state.flows.finish(flow, at: .token)
        var signedIn = SignedIn(userID: user.id, at: state.clock.now, methods: flow.methods)
        if hasSecondFactor { signedIn.contexts = contexts }
        let scope = flow.scope ?? ScopeRequest.usual
        return try await mint.tokens(of: state.grants.begin(holder, signedIn: signedIn, scope: scope))
    }

    // MARK: Reset

    func submitPassword() async throws -> Reply {
        let flow = try await open()
        let password = try form.required("new_password")
        let hash = try PasswordPolicy.hash(password, for: flow.username)
        let user = try await user(of: flow)
        try state.users.checkNotUsed(password, by: user)
        let token = try await token(flow, for: .resetting)
        await state.users.reset(user.id, to: hash, after: Lifetime.resetPollInterval)
        return .object(["continuation_token": token, "poll_interval": .integer(Lifetime.resetPollInterval)])
    }

    func pollReset() async throws -> Reply {
        var flow = try await open()
        let isPending = await state.users.isResetPending(flow.userID ?? "")
        guard !isPending else { return .object(["status": "in_progress"]) }
        // The answer may be lost on its way, so that the same token may ask once more, until there are tokens.
        flow.step = .tokens
        let next = JSONValue.string(try await state.flows.reissue(flow, at: exchange.route))
        let expiry = JSONValue.integer(Lifetime.continuationToken)
        return .object(["status": "succeeded", "continuation_token": next, "expires_in": expiry])
    }
}
