import Foundation

/// `resetpassword/v1.0/…`.
struct ResetPasswordEndpoints: Sendable {
    let state: ProviderState

    func start(_ request: NativeRequest) async throws -> Reply {
        let username = try request.parameters.required("username")
        let types = try request.challengeTypes()
        let user = try await state.users.user(named: username, in: request.realm.tenant)
        guard user.password != nil else {
            throw ProtocolError.invalidRequest(
                ErrorNumber.noPassword,
                "The account signs in without a password. Sign in with a code."
            )
        }
        guard types.contains("oob") else {
            return try .redirectToBrowser("A reset needs oob, which the client did not list.")
        }
        let flow = Flow(request, username: user.email, userID: user.id, now: state.clock.now)
        return try .json(["continuation_token": .string(await state.flows.begin(flow, for: [.resetChallenge]))])
    }

    func challenge(_ request: NativeRequest) async throws -> Reply {
        if request.parameters["challenge_type"] != nil { _ = try request.challengeTypes() }
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .resetChallenge)
        try await state.flows.sendCode(for: flow, to: flow.username, channel: "email", purpose: "password reset")
        let next = try await state.flows.repeatStep(
            with: token,
            at: .resetChallenge,
            for: [.resetChallenge, .resetContinue]
        ) { $0.step = .code }
        return try .codeSent(next, to: flow.username, channel: "email")
    }

    func `continue`(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .resetContinue)
        guard try request.parameters.required("grant_type") == "oob" else { throw Flows.refusal(at: .resetContinue) }
        try await state.flows.checkCode(request.parameters.required("oob"), of: flow)
        let next = try await state.flows.advance(with: token, at: .resetContinue, for: [.resetSubmit]) {
            $0.step = .newPassword
            $0.verified.insert($0.username)
            $0.methods = ["otp"]
        }
        return try .next(next)
    }

    func submit(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .resetSubmit)
        let password = try request.parameters.required("new_password")
        guard let userID = flow.userID else { throw Flows.refusal(at: .resetSubmit) }
        try PasswordPolicy.check(password, for: flow.username)
        try state.users.checkNotUsed(password, by: await state.users.user(userID))
        let hash = try PasswordHash(password)
        let next = try await state.flows.advance(with: token, at: .resetSubmit, for: [.resetPoll]) { $0.step = .poll }
        await state.users.reset(userID, to: hash, after: Lifetime.resetPollInterval)
        return try .json([
            "continuation_token": .string(next), "poll_interval": .integer(Lifetime.resetPollInterval),
        ])
    }

    func poll(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .resetPoll)
        guard let userID = flow.userID else { throw Flows.refusal(at: .resetPoll) }
        guard await !state.users.isResetPending(userID) else { return try .json(["status": "in_progress"]) }
        let next = try await state.flows.advance(with: token, at: .resetPoll, for: [.token]) { $0.step = .tokens }
        return try .json([
            "status": "succeeded", "continuation_token": .string(next),
            "expires_in": .integer(Lifetime.continuationToken),
        ])
    }
}
