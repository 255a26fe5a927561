/// `register/v1.0/…`: a second factor for someone who has none.
extension NativeEndpoints {
    func introspectRegistration() async throws -> Reply {
        let flow = try await state.flows.open(request)
        let email = AuthMethod(id: "email", channel: "email", target: flow.username)
        return try .json([
            "continuation_token": try await repeatStep(for: [.registerIntrospect, .registerChallenge]),
            "methods": [email.json, ["id": "sms", "challenge_type": "oob", "challenge_channel": "sms"]],
        ])
    }

    func challengeRegistration() async throws -> Reply {
        let flow = try await state.flows.open(request)
        let target = try form.required("challenge_target").lowercased()
        guard try form.requiredList("challenge_type").contains("oob") else {
            throw ProtocolError.invalidParameter("challenge_type")
        }
        let isNumber = target.wholeMatch(of: /\+[0-9]{8,15}/) != nil
        let channel = form["challenge_channel"] ?? (target.contains("@") ? "email" : "sms")
        guard channel == "email" ? AuthMethod.isAddress(target) : channel == "sms" && isNumber else {
            throw ProtocolError.contactRefused
        }
        guard !tenant.blockedContacts.contains(target) else { throw ProtocolError.blocked("The contact") }
        let method = AuthMethod(id: "m-\(RandomToken.bytes(6).base64URL)", channel: channel, target: target)
        let isPreverified = flow.verified.contains(target)
        if !isPreverified { try await state.flows.sendCode(for: flow, to: method, purpose: "registration") }
        let next = try await repeatStep(for: [.registerChallenge, .registerContinue]) {
            $0.secondFactor = method
            $0.isPreverified = isPreverified
        }
        guard !isPreverified else { return try .json(["continuation_token": next, "challenge_type": "preverified"]) }
        return try .json([
            "continuation_token": next, "challenge_type": "oob", "binding_method": "prompt",
            "challenge_target": .string(target), "challenge_channel": .string(channel), "code_length": 8,
            "interval": .integer(Lifetime.resendInterval),
        ])
    }

    func continueRegistration() async throws -> Reply {
        let flow = try await state.flows.open(request)
        guard let method = flow.secondFactor else { throw ProtocolError.badContinuation(at: .registerContinue) }
        let userID = try userID(of: flow)
        switch try form.required("grant_type") {
        case "oob" where !flow.isPreverified: try await checkCode(flow)
        case "continuation_token" where flow.isPreverified: break
        default: throw ProtocolError.badContinuation(at: .registerContinue)
        }
        let reply = try await proceed(to: .token) {
            $0.step = .tokens
            $0.methods += ["otp", "mfa"]
        }
        await state.users.add(method, to: userID)
        return reply
    }
}
