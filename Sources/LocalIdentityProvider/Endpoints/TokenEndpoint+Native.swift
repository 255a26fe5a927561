import Foundation

/// The grants of native authentication.
extension TokenEndpoint {
    func native(_ grant: String, _ request: NativeRequest) async throws -> Reply {
        let token = try request.parameters.required("continuation_token")
        let flow = try await state.flows.open(token, request, at: .token)
        if let username = request.parameters["username"], username.lowercased() != flow.username.lowercased() {
            throw Flows.refusal(at: .token)
        }
        guard let userID = flow.userID else { throw Flows.refusal(at: .token) }
        let user = try await state.users.user(userID)
        var methods = flow.methods
        var verified = flow.verified
        switch (grant, flow.step) {
        case ("password", .password):
            try await state.users.checkPassword(request.parameters.required("password"), of: user)
            methods.append("pwd")
        case ("oob", .code):
            try await state.flows.checkCode(request.parameters.required("oob"), of: flow)
            methods.append("otp")
            verified.insert(user.email)
        case ("oob", .secondFactor), ("mfa_oob", .secondFactor):
            try await state.flows.checkCode(request.parameters.required("oob"), of: flow)
            methods += ["otp", "mfa"]
        case ("continuation_token", .tokens): break
        default: throw Flows.refusal(at: .token)
        }
        guard !user.mustResetPassword else {
            throw ProtocolError.invalidRequest(
                ErrorNumber.mustReset,
                "The password must be reset before the next sign-in."
            )
        }
        return try await complete(
            Proof(token: token, flow: flow, user: user, methods: methods, verified: verified),
            request
        )
    }

    /// What a flow has proved when its tokens are asked for.
    private struct Proof: Sendable {
        let token: String
        let flow: Flow
        let user: User
        let methods: [String]
        let verified: Set<String>
    }

    private func complete(_ proof: Proof, _ request: NativeRequest) async throws -> Reply {
        let claims = request.parameters["claims"] ?? proof.flow.claims
        let contexts = ClaimsRequest(claims)?.contexts ?? []
        let isNeeded =
            switch request.client.secondFactor {
            case .never: false
            case .always: true
            case .onClaim: !contexts.isEmpty
            }
        if isNeeded, !proof.methods.contains("mfa") { return try await askForSecondFactor(proof, request) }
        let scopes = try ScopeRequest(request.parameters["scope"] ?? proof.flow.scope, tenant: request.realm.tenant)
        try await checkConsent(scopes, user: proof.user, client: request.client)
        let added = try await addedClaims(request.exchange, request.realm, request.client, proof.user)
        try await state.flows.finish(with: proof.token, at: .token)
        let signedIn = SignedIn(
            userID: proof.user.id,
            at: state.clock.now,
            methods: proof.methods,
            contexts: proof.methods.contains("mfa") ? contexts : []
        )
        let family = await state.grants.begin(
            client: request.client,
            realm: request.realm,
            signedIn: signedIn,
            scope: scopes.openID.joined(separator: " ")
        )
        return try await mint.tokens(
            for: .init(
                realm: request.realm,
                client: request.client,
                user: proof.user,
                signedIn: signedIn,
                scopes: scopes,
                familyID: family.id,
                refreshToken: scopes.isRefreshable ? await state.grants.text(of: family) : nil,
                addedClaims: added,
                idTokenFault: request.exchange.idTokenFault
            )
        )
    }

    private func askForSecondFactor(_ proof: Proof, _ request: NativeRequest) async throws -> Reply {
        let isRegistered = !proof.user.methods.isEmpty
        let need = isRegistered ? "mfa_required" : "registration_required"
        guard proof.flow.capabilities.contains(need) else {
            return try .redirectToBrowser("The client did not announce \(need).")
        }
        let scope = request.parameters["scope"]
        let claims = request.parameters["claims"]
        let token = try await state.flows.advance(
            with: proof.token,
            at: .token,
            for: isRegistered ? [.introspect, .challenge] : [.registerIntrospect]
        ) { flow in
            flow.step = isRegistered ? .secondFactor : .registration
            flow.methods = proof.methods
            flow.verified = proof.verified
            flow.scope = scope ?? flow.scope
            flow.claims = claims ?? flow.claims
        }
        throw ProtocolError(
            "invalid_grant",
            isRegistered ? ErrorNumber.mfaRequired : ErrorNumber.registrationRequired,
            isRegistered ? "A second factor is needed." : "A second factor must be registered first.",
            suberror: need,
            extra: ["continuation_token": .string(token)]
        )
    }
}
