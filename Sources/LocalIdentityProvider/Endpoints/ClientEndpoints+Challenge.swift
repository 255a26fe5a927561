import OAuth

/// What a client has to prove next (E02, E05, E06, E08, E09 and E12). Nothing here consumes a continuation token.
extension ClientEndpoints {
    func open() async throws -> Flow {
        try await state.flows.open(form.required("continuation_token"), holder: holder, at: exchange.route)
    }

    func user(of flow: Flow) async throws -> User { try await state.users.user(flow.userID ?? "") }

    private func again(_ flow: Flow) async throws -> JSONValue {
        .string(try await state.flows.reissue(flow, at: exchange.route))
    }

    func challenge() async throws -> Reply {
        let types = try form["challenge_type"].map { _ in try challengeTypes() }
        var flow = try await open()
        switch flow.step {
        case .secondFactor: return try await sendCode(flow, to: chosenMethod(of: user(of: flow)), "second factor")
        case .signUpPassword: return try await expectPassword(flow)
        case .signUp, .signUpCode:
            flow.step = .signUpCode
            return try await sendCode(flow, "sign-up")
        case .reset, .resetCode:
            flow.step = .resetCode
            return try await sendCode(flow, "password reset")
        default:
            let method = firstMethod(of: try await user(of: flow))
            guard types?.contains(method) ?? true else {
                return try redirect("The user signs in with \(method).")
            }
            flow.step = method == "oob" ? .code : .password
            return try await method == "oob" ? sendCode(flow, "sign-in") : expectPassword(flow)
        }
    }

    private func chosenMethod(of user: User) throws -> SecondFactorMethod {
        let id = try form.required("id")
        let method = user.methods.first { $0.id == id }
        guard let method else { throw ProtocolError.invalidParameter("id") }
        guard !method.isBlocked else { throw ProtocolError.blocked }
        return method
    }

    private func expectPassword(_ flow: Flow) async throws -> Reply {
        .object(["continuation_token": try await again(flow), "challenge_type": "password"])
    }

    /// Sends a code, to the flow's own address unless told otherwise, and says where it went.
    private func sendCode(_ flow: Flow, to method: SecondFactorMethod? = nil, _ purpose: String) async throws -> Reply {
        let method = method ?? SecondFactorMethod(address: flow.username)
        try await state.codes.send(flow.id, to: method, purpose: purpose)
        let isContact = flow.step == .registration  // the person who typed it may see it
        return .object([
            "continuation_token": try await again(flow), "challenge_type": "oob", "binding_method": "prompt",
            "challenge_channel": .string(method.channel), "code_length": 8,
            "challenge_target": isContact ? .string(method.target) : nil,
            "challenge_target_label": isContact ? nil : .string(method.masked),
            "interval": .integer(Lifetime.resendInterval),
        ])
    }

    /// The methods a person has, or could register.
    func introspect() async throws -> Reply {
        let flow = try await open()
        var methods = try await user(of: flow).methods.map(\.json)
        if flow.step == .registration {
            let email = SecondFactorMethod(id: "email", channel: "email", target: flow.username)
            methods = [email.json, ["id": "sms", "challenge_type": "oob", "challenge_channel": "sms"]]
        }
        return .object(["continuation_token": try await again(flow), "methods": .array(methods)])
    }

    /// Sends a code to a contact that someone wants to register.
    func challengeContact() async throws -> Reply {
        var flow = try await open()
        let target = try form.required("challenge_target").lowercased()
        guard try form.required("challenge_type").split(separator: " ").contains("oob") else {
            throw ProtocolError.invalidParameter("challenge_type")
        }
        let channel = form["challenge_channel"] ?? (target.contains("@") ? "email" : "sms")
        let isNumber = channel == "sms" && target.wholeMatch(of: /\+[0-9]{8,15}/) != nil
        guard isNumber || channel == "email" && SecondFactorMethod.isAddress(target) else {
            throw ProtocolError.contactRefused
        }
        guard !tenant.blockedContacts.contains(target) else { throw ProtocolError.blocked }
        let contact = SecondFactorMethod(id: RandomToken.make(prefix: "m-", bytes: 6), channel: channel, target: target)
        flow.contact = contact
        guard flow.isPreverified else { return try await sendCode(flow, to: contact, "registration") }
        return .object(["continuation_token": try await again(flow), "challenge_type": "preverified"])
    }
}
