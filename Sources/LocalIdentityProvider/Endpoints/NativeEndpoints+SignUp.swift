/// `signup/v1.0/…`.
extension NativeEndpoints {
    func startSignUp() async throws -> Reply {
        let username = try form.required("username")
        guard username.count <= 254, AuthMethod.isAddress(username) else {
            throw ProtocolError.invalidParameter("username")
        }
        let types = try challengeTypes()
        let needed = client.signUpMethod == .password ? ["oob", "password"] : ["oob"]
        guard types.isSuperset(of: needed) else {
            return try redirect("Sign-up needs \(needed.joined(separator: " and ")).")
        }
        guard await !state.users.exists(username, in: tenant) else { throw ProtocolError.userExists }
        let password = client.signUpMethod == .password ? form["password"] : nil
        let hash = try password.map { try PasswordPolicy.hash($0, for: username) }
        let attributes = try tenant.accepted(form["attributes"])
        return try await begin(username, nil, for: .signUpChallenge) {
            $0.password = hash
            $0.attributes = attributes
        }
    }

    func challengeSignUp() async throws -> Reply {
        if form["challenge_type"] != nil { _ = try challengeTypes() }
        let flow = try await state.flows.open(request)
        let routes: Set<Route> = [.signUpChallenge, .signUpContinue]
        if case .password = flow.step { return try passwordExpected(await repeatStep(for: routes)) }
        let address = AuthMethod(address: flow.username)
        return try await sendCode(flow, to: address, purpose: "sign-up", for: routes) { $0.step = .code }
    }

    func continueSignUp() async throws -> Reply {
        var flow = try await state.flows.open(request)
        switch (try form.required("grant_type"), flow.step) {
        case ("oob", .code):
            try await checkCode(flow)
            flow.verified.insert(flow.username.lowercased())
            flow.methods.append("otp")
        case ("password", .password):
            flow.password = try PasswordPolicy.hash(form.required("password"), for: flow.username)
            flow.methods.append("pwd")
        case ("attributes", .attributes):
            flow.attributes.merge(try tenant.accepted(form.required("attributes"))) { _, new in new }
        case ("attributes", .code): throw ProtocolError.verificationRequired
        default: throw ProtocolError.badContinuation(at: .signUpContinue)
        }
        return try await complete(flow)
    }

    /// Asks for what is still missing, or creates the user.
    private func complete(_ flow: Flow) async throws -> Reply {
        if client.signUpMethod == .password, flow.password == nil {
            let token = try await ask(flow, for: .password, at: .signUpChallenge)
            throw ProtocolError(
                "credential_required",
                55103,
                "A password is needed.",
                extra: ["continuation_token": token]
            )
        }
        let missing = tenant.missing(on: client.attributePages, given: flow.attributes)
        if !missing.isEmpty {
            let token = try await ask(flow, for: .attributes, at: .signUpContinue)
            throw ProtocolError(
                "attributes_required",
                55106,
                "Attributes are needed.",
                extra: ["continuation_token": token, "required_attributes": .array(missing.map(\.requirement))]
            )
        }
        let user = try await state.users.create(
            flow.username,
            in: tenant,
            password: flow.password,
            attributes: flow.attributes
        )
        return try await proceed(to: .token) {
            $0 = flow
            $0.userID = user.id
            $0.step = .tokens
        }
    }

    private func ask(_ flow: Flow, for step: Flow.Step, at route: Route) async throws -> JSON {
        try await advance(for: [route]) {
            $0 = flow
            $0.step = step
        }
    }
}

extension AttributeDefinition {
    /// As `required_attributes` lists it.
    fileprivate var requirement: JSON {
        var members: [String: JSON] = ["name": .string(name), "type": .string(type ?? "string"), "required": true]
        if let regex { members["options"] = ["regex": .string(regex)] }
        return .object(members)
    }
}
