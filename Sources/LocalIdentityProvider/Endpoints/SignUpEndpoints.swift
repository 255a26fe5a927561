import Foundation

/// `signup/v1.0/…`.
struct SignUpEndpoints: Sendable {
    let state: ProviderState

    func start(_ request: NativeRequest) async throws -> Reply {
        let username = try request.parameters.required("username")
        guard username.count <= 254, username.wholeMatch(of: /[^@\s]+@[^@\s.]+(\.[^@\s.]+)+/) != nil else {
            throw ProtocolError.invalidParameter("username")
        }
        let types = try request.challengeTypes()
        let needed = request.client.signUpMethod == .password ? ["oob", "password"] : ["oob"]
        guard types.isSuperset(of: needed) else {
            return try .redirectToBrowser("Sign-up needs \(needed.joined(separator: " and ")).")
        }
        guard await !state.users.exists(username, in: request.realm.tenant) else { throw Users.alreadyExists }
        var flow = Flow(request, username: username, userID: nil, now: state.clock.now)
        if let password = request.parameters["password"], request.client.signUpMethod == .password {
            try PasswordPolicy.check(password, for: username)
            flow.password = try PasswordHash(password)
        }
        flow.attributes = try SubmittedAttributes(request.parameters["attributes"], tenant: request.realm.tenant).values
        return try .json(["continuation_token": .string(await state.flows.begin(flow, for: [.signUpChallenge]))])
    }

    func challenge(_ request: NativeRequest) async throws -> Reply {
        if request.parameters["challenge_type"] != nil { _ = try request.challengeTypes() }
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .signUpChallenge)
        if case .password = flow.step {
            return try .passwordExpected(
                await state.flows.repeatStep(
                    with: token,
                    at: .signUpChallenge,
                    for: [.signUpChallenge, .signUpContinue]
                )
            )
        }
        try await state.flows.sendCode(for: flow, to: flow.username, channel: "email", purpose: "sign-up")
        let next = try await state.flows.repeatStep(
            with: token,
            at: .signUpChallenge,
            for: [.signUpChallenge, .signUpContinue]
        ) { $0.step = .code }
        return try .codeSent(next, to: flow.username, channel: "email")
    }

    func `continue`(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        var flow = try await state.flows.open(token, request, at: .signUpContinue)
        switch (try request.parameters.required("grant_type"), flow.step) {
        case ("oob", .code):
            try await state.flows.checkCode(request.parameters.required("oob"), of: flow)
            flow.verified.insert(flow.username.lowercased())
            flow.methods.append("otp")
        case ("password", .password):
            let password = try request.parameters.required("password")
            try PasswordPolicy.check(password, for: flow.username)
            flow.password = try PasswordHash(password)
            flow.methods.append("pwd")
        case ("attributes", .attributes):
            let text = try request.parameters.required("attributes")
            let submitted = try SubmittedAttributes(text, tenant: request.realm.tenant)
            flow.attributes.merge(submitted.values) { _, new in new }
        case ("attributes", .code):
            throw ProtocolError(
                "verification_required",
                ErrorNumber.verificationRequired,
                "The address must be verified first. Send the code.",
                extra: ["unverified_attributes": [["name": "email"]]]
            )
        default: throw Flows.refusal(at: .signUpContinue)
        }
        return try await proceed(flow, token, request)
    }

    /// Asks for what is still missing, or creates the user.
    private func proceed(_ flow: Flow, _ token: String, _ request: NativeRequest) async throws -> Reply {
        let tenant = request.realm.tenant
        if request.client.signUpMethod == .password, flow.password == nil {
            throw try await ask(
                flow,
                token,
                step: .password,
                at: .signUpChallenge,
                number: ErrorNumber.credentialRequired
            )
        }
        let missing = SubmittedAttributes.missing(
            on: request.client.attributePages,
            given: flow.attributes,
            tenant: tenant
        )
        if !missing.isEmpty {
            var error = try await ask(
                flow,
                token,
                step: .attributes,
                at: .signUpContinue,
                number: ErrorNumber.attributesRequired
            )
            error.extra["required_attributes"] = .array(missing.map(\.requirement))
            throw error
        }
        let user = try await state.users.create(
            flow.username,
            in: tenant,
            password: flow.password,
            attributes: flow.attributes
        )
        let next = try await state.flows.advance(with: token, at: .signUpContinue, for: [.token]) {
            $0 = flow
            $0.userID = user.id
            $0.step = .tokens
        }
        return try .next(next)
    }

    private func ask(_ flow: Flow, _ token: String, step: Flow.Step, at route: Route, number: Int) async throws
        -> ProtocolError
    {
        let next = try await state.flows.advance(with: token, at: .signUpContinue, for: [route]) {
            $0 = flow
            $0.step = step
        }
        let isPassword = number == ErrorNumber.credentialRequired
        return ProtocolError(
            isPassword ? "credential_required" : "attributes_required",
            number,
            isPassword ? "A password is needed." : "Attributes are needed.",
            extra: ["continuation_token": .string(next)]
        )
    }
}

extension AttributeDefinition {
    /// As `required_attributes` lists it.
    fileprivate var requirement: JSON {
        var members: [String: JSON] = ["name": .string(name), "type": .string(type), "required": true]
        if let regex { members["options"] = ["regex": .string(regex)] }
        return .object(members)
    }
}
