/// `register/v1.0/…`: a second factor for someone who has none.
struct RegisterEndpoints: Sendable {
    let state: ProviderState

    func introspect(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .registerIntrospect)
        let next = try await state.flows.repeatStep(
            with: token,
            at: .registerIntrospect,
            for: [.registerIntrospect, .registerChallenge]
        )
        return try .json([
            "continuation_token": .string(next),
            "methods": [
                [
                    "id": "email", "challenge_type": "oob", "challenge_channel": "email",
                    "login_hint": .string(Masked.contact(flow.username)),
                ],
                ["id": "sms", "challenge_type": "oob", "challenge_channel": "sms"],
            ],
        ])
    }

    func challenge(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .registerChallenge)
        let target = try request.parameters.required("challenge_target").lowercased()
        guard try request.parameters.required("challenge_type").split(separator: " ").contains("oob") else {
            throw ProtocolError.invalidParameter("challenge_type")
        }
        let isAddress = target.wholeMatch(of: /[^@\s]+@[^@\s.]+(\.[^@\s.]+)+/) != nil
        let isNumber = target.wholeMatch(of: /\+[0-9]{8,15}/) != nil
        let channel = request.parameters["challenge_channel"] ?? (target.contains("@") ? "email" : "sms")
        guard channel == "email" ? isAddress : channel == "sms" && isNumber else {
            throw ProtocolError.invalidRequest(ErrorNumber.contactRefused, "The contact is not valid. Enter another.")
        }
        guard !request.realm.tenant.blockedContacts.contains(target) else { throw ProtocolError.blocked("The contact") }
        let method = AuthMethod(id: "m-\(RandomToken.bytes(6).base64URL)", channel: channel, target: target)
        let isPreverified = flow.verified.contains(target)
        if !isPreverified {
            try await state.flows.sendCode(for: flow, to: target, channel: channel, purpose: "registration")
        }
        let next = try await state.flows.repeatStep(
            with: token,
            at: .registerChallenge,
            for: [.registerChallenge, .registerContinue]
        ) {
            $0.secondFactor = method
            $0.isPreverified = isPreverified
        }
        guard !isPreverified else {
            return try .json(["continuation_token": .string(next), "challenge_type": "preverified"])
        }
        return try .json([
            "continuation_token": .string(next), "challenge_type": "oob", "binding_method": "prompt",
            "challenge_target": .string(target), "challenge_channel": .string(channel), "code_length": 8,
            "interval": .integer(Lifetime.resendInterval),
        ])
    }

    func `continue`(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .registerContinue)
        guard let method = flow.secondFactor, let userID = flow.userID else {
            throw Flows.refusal(at: .registerContinue)
        }
        switch try request.parameters.required("grant_type") {
        case "oob" where !flow.isPreverified:
            try await state.flows.checkCode(request.parameters.required("oob"), of: flow)
        case "continuation_token" where flow.isPreverified: break
        default: throw Flows.refusal(at: .registerContinue)
        }
        let next = try await state.flows.advance(with: token, at: .registerContinue, for: [.token]) {
            $0.step = .tokens
            $0.methods += ["otp", "mfa"]
        }
        await state.users.add(method, to: userID)
        return try .next(next)
    }
}
