import Foundation

/// `initiate`, `challenge` and `introspect`: sign-in up to the token request.
struct SignInEndpoints: Sendable {
    let state: ProviderState

    func initiate(_ request: NativeRequest) async throws -> Reply {
        let username = try request.parameters.required("username")
        let types = try request.challengeTypes()
        let user = try await state.users.user(named: username, in: request.realm.tenant)
        let method = Self.method(of: user, at: request.client)
        guard types.contains(method) else {
            return try .redirectToBrowser("The user signs in with \(method), which the client did not list.")
        }
        let flow = Flow(request, username: user.email, userID: user.id, now: state.clock.now)
        return try .json(["continuation_token": .string(await state.flows.begin(flow, for: [.challenge]))])
    }

    /// A client for passwords still sends codes to someone who has none.
    private static func method(of user: User, at client: Client) -> String {
        client.signUpMethod == .password && user.password != nil ? "password" : "oob"
    }

    func challenge(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .challenge)
        guard let userID = flow.userID else { throw Flows.refusal(at: .challenge) }
        let user = try await state.users.user(userID)
        if case .secondFactor = flow.step { return try await challengeSecondFactor(request, token, flow, user) }
        let method = Self.method(of: user, at: request.client)
        guard try request.challengeTypes().contains(method) else {
            return try .redirectToBrowser("The user signs in with \(method), which the client did not list.")
        }
        guard method == "oob" else {
            let next = try await state.flows.repeatStep(with: token, at: .challenge, for: [.challenge, .token]) {
                $0.step = .password
            }
            return try .passwordExpected(next)
        }
        try await state.flows.sendCode(for: flow, to: user.email, channel: "email", purpose: "sign-in")
        let next = try await state.flows.repeatStep(with: token, at: .challenge, for: [.challenge, .token]) {
            $0.step = .code
        }
        return try .codeSent(next, to: user.email, channel: "email")
    }

    private func challengeSecondFactor(_ request: NativeRequest, _ token: String, _ flow: Flow, _ user: User)
        async throws -> Reply
    {
        let id = try request.parameters.required("id")
        guard let method = user.methods.first(where: { $0.id == id }) else {
            throw ProtocolError.invalidParameter("id")
        }
        guard !method.isBlocked else { throw ProtocolError.blocked("The method") }
        try await state.flows.sendCode(for: flow, to: method.target, channel: method.channel, purpose: "second factor")
        let next = try await state.flows.repeatStep(
            with: token,
            at: .challenge,
            for: [.challenge, .introspect, .token]
        ) {
            $0.secondFactor = method
        }
        return try .codeSent(next, to: method.target, channel: method.channel)
    }

    func introspect(_ request: NativeRequest) async throws -> Reply {
        let token = try request.continuationToken()
        let flow = try await state.flows.open(token, request, at: .introspect)
        guard let userID = flow.userID else { throw Flows.refusal(at: .introspect) }
        let user = try await state.users.user(userID)
        let next = try await state.flows.repeatStep(with: token, at: .introspect, for: [.introspect, .challenge])
        return try .json(["continuation_token": .string(next), "methods": .array(user.methods.map(\.json))])
    }
}
