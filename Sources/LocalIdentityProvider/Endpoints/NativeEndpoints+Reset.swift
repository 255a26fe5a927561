/// `resetpassword/v1.0/…`.
extension NativeEndpoints {
    func startReset() async throws -> Reply {
        let username = try form.required("username")
        let types = try challengeTypes()
        let user = try await state.users.user(named: username, in: tenant)
        guard user.password != nil else { throw ProtocolError.noPassword }
        guard types.contains("oob") else { return try redirect("A reset needs oob, which the client did not list.") }
        return try await begin(user.email, user.id, for: .resetChallenge)
    }

    func challengeReset() async throws -> Reply {
        if form["challenge_type"] != nil { _ = try challengeTypes() }
        let flow = try await state.flows.open(request)
        let address = AuthMethod(address: flow.username)
        let routes: Set<Route> = [.resetChallenge, .resetContinue]
        return try await sendCode(flow, to: address, purpose: "password reset", for: routes) { $0.step = .code }
    }

    func continueReset() async throws -> Reply {
        let flow = try await state.flows.open(request)
        guard try form.required("grant_type") == "oob" else { throw ProtocolError.badContinuation(at: .resetContinue) }
        try await checkCode(flow)
        return try await proceed(to: .resetSubmit) {
            $0.step = .newPassword
            $0.verified.insert($0.username)
            $0.methods = ["otp"]
        }
    }

    func submitReset() async throws -> Reply {
        let flow = try await state.flows.open(request)
        let password = try form.required("new_password")
        let userID = try userID(of: flow)
        let hash = try PasswordPolicy.hash(password, for: flow.username)
        try state.users.checkNotUsed(password, by: await state.users.user(userID))
        let next = try await advance(for: [.resetPoll]) { $0.step = .poll }
        await state.users.reset(userID, to: hash, after: Lifetime.resetPollInterval)
        return try .json(["continuation_token": next, "poll_interval": .integer(Lifetime.resetPollInterval)])
    }

    func pollReset() async throws -> Reply {
        let userID = try userID(of: await state.flows.open(request))
        guard await !state.users.isResetPending(userID) else { return try .json(["status": "in_progress"]) }
        return try .json([
            "status": "succeeded", "continuation_token": try await advance(for: [.token]) { $0.step = .tokens },
            "expires_in": .integer(Lifetime.continuationToken),
        ])
    }
}
