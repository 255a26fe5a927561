/// The grants of native authentication at the token endpoint.
extension NativeEndpoints {
    func tokens(for grant: String) async throws -> Reply {
        var flow = try await state.flows.open(request)
        if let username = form["username"], username.lowercased() != flow.username.lowercased() {
            throw ProtocolError.badContinuation(at: .token)
        }
        let user = try await user(of: flow)
        switch (grant, flow.step) {
        case ("password", .password):
            try await state.users.checkPassword(form.required("password"), of: user)
            flow.methods.append("pwd")
        case ("oob", .code):
            try await checkCode(flow)
            flow.methods.append("otp")
            flow.verified.insert(user.email)
        case ("oob", .secondFactor), ("mfa_oob", .secondFactor):
            try await checkCode(flow)
            flow.methods += ["otp", "mfa"]
        case ("continuation_token", .tokens): break
        default: throw ProtocolError.badContinuation(at: .token)
        }
        guard !user.mustResetPassword else { throw ProtocolError.mustReset }
        flow.claims = form["claims"] ?? flow.claims
        flow.scope = form["scope"] ?? flow.scope
        return try await complete(flow, user)
    }

    /// Issues tokens for what `flow` has proved, or asks for the second factor it lacks.
    private func complete(_ flow: Flow, _ user: User) async throws -> Reply {
        let contexts = ClaimsRequest(flow.claims).contexts
        let hasSecondFactor = flow.methods.contains("mfa")
        if client.secondFactor.applies(to: contexts), !hasSecondFactor {
            return try await askForSecondFactor(flow, user)
        }
        let endpoint = TokenEndpoint(state: state, request: request)
        let scopes = try ScopeRequest(flow.scope, tenant: tenant)
        try await endpoint.checkConsent(scopes, user: user)
        let added = try await endpoint.addedClaims(user)
        try await state.flows.finish(request)
        let signedIn = SignedIn(
            userID: user.id,
            at: state.clock.now,
            methods: flow.methods,
            contexts: hasSecondFactor ? contexts : []
        )
        let scope = scopes.openID.joined(separator: " ")
        let family = await state.grants.begin(request.holder, signedIn: signedIn, scope: scope)
        return try await endpoint.tokens(of: family, user: user, scopes: scopes, addedClaims: added)
    }

    private func askForSecondFactor(_ flow: Flow, _ user: User) async throws -> Reply {
        let isRegistered = !user.methods.isEmpty
        let need = isRegistered ? "mfa_required" : "registration_required"
        guard flow.capabilities.contains(need) else { return try redirect("The client did not announce \(need).") }
        let token = try await advance(for: isRegistered ? [.introspect, .challenge] : [.registerIntrospect]) {
            $0.step = isRegistered ? .secondFactor : .registration
            $0.methods = flow.methods
            $0.verified = flow.verified
            $0.scope = flow.scope
            $0.claims = flow.claims
        }
        throw ProtocolError(
            "invalid_grant",
            isRegistered ? 50076 : 9_900_021,
            isRegistered ? "A second factor is needed." : "A second factor must be registered first.",
            suberror: need,
            extra: ["continuation_token": token]
        )
    }
}
