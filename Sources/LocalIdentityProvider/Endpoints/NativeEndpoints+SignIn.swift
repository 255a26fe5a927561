/// `initiate`, `challenge` and `introspect`: sign-in up to the token request.
extension NativeEndpoints {
    func initiate() async throws -> Reply {
        let username = try form.required("username")
        let types = try challengeTypes()
        let user = try await state.users.user(named: username, in: tenant)
        let method = firstMethod(of: user)
        guard types.contains(method) else { return try redirect(notListed(method)) }
        return try await begin(user.email, user.id, for: .challenge)
    }

    /// A client for passwords still sends codes to someone who has none.
    private func firstMethod(of user: User) -> String {
        client.signUpMethod == .password && user.password != nil ? "password" : "oob"
    }

    private func notListed(_ method: String) -> String {
        "The user signs in with \(method), which the client did not list."
    }

    func challenge() async throws -> Reply {
        let flow = try await state.flows.open(request)
        let user = try await user(of: flow)
        if case .secondFactor = flow.step { return try await challengeSecondFactor(flow, user) }
        let method = firstMethod(of: user)
        guard try challengeTypes().contains(method) else { return try redirect(notListed(method)) }
        guard method == "oob" else {
            return try passwordExpected(await repeatStep(for: [.challenge, .token]) { $0.step = .password })
        }
        let address = AuthMethod(address: user.email)
        return try await sendCode(flow, to: address, purpose: "sign-in", for: [.challenge, .token]) { $0.step = .code }
    }

    private func challengeSecondFactor(_ flow: Flow, _ user: User) async throws -> Reply {
        let id = try form.required("id")
        guard let method = user.methods.first(where: { $0.id == id }) else {
            throw ProtocolError.invalidParameter("id")
        }
        guard !method.isBlocked else { throw ProtocolError.blocked("The method") }
        let routes: Set<Route> = [.challenge, .introspect, .token]
        return try await sendCode(flow, to: method, purpose: "second factor", for: routes) { $0.secondFactor = method }
    }

    func introspect() async throws -> Reply {
        let user = try await user(of: state.flows.open(request))
        let next = try await repeatStep(for: [.introspect, .challenge])
        return try .json(["continuation_token": next, "methods": .array(user.methods.map(\.json))])
    }
}
