import Foundation
import OAuth

/// Where native flows begin (E01, E04 and E11).
extension ClientEndpoints {
    func initiate() async throws -> Reply {
        let username = try form.required("username")
        let types = try challengeTypes()
        let user = try await state.users.user(named: username, in: tenant)
        let method = firstMethod(of: user)
        guard types.contains(method) else { return try redirect("The user signs in with \(method).") }
        return try await begin(.signIn, user.email, user.id)
    }

    /// A client for passwords still sends codes to someone who has none.
    func firstMethod(of user: User) -> String {
        client.signUpMethod == .password && user.password != nil ? "password" : "oob"
    }

    func startSignUp() async throws -> Reply {
        let username = try form.required("username").lowercased()
        guard username.count <= 254, SecondFactorMethod.isAddress(username) else {
            throw ProtocolError.invalidParameter("username")
        }
        let needed = client.signUpMethod == .password ? ["oob", "password"] : ["oob"]
        guard try challengeTypes().isSuperset(of: needed) else {
            return try redirect("Sign-up needs \(needed.joined(separator: " and ")).")
        }
        guard await !state.users.exists(username, in: tenant) else { throw ProtocolError.userExists }
        let password = client.signUpMethod == .password ? form["password"] : nil
        let hash = try password.map { try PasswordPolicy.hash($0, for: username) }
        return try await begin(.signUp, username, password: hash, attributes: tenant.accepted(form["attributes"]))
    }

    func startReset() async throws -> Reply {
        let username = try form.required("username")
        let types = try challengeTypes()
        let user = try await state.users.user(named: username, in: tenant)
        guard user.password != nil else { throw ProtocolError.noPassword }
        guard types.contains("oob") else { return try redirect("A reset needs oob.") }
        return try await begin(.reset, user.email, user.id)
    }

    /// The methods the client can handle; `redirect` must be among them.
    func challengeTypes() throws -> Set<String> {
        let types = Set(try form.required("challenge_type").split(separator: " ").map(String.init))
        guard types.contains("redirect") else { throw ProtocolError.redirectMissing }
        return types
    }

    private func begin(
        _ step: Flow.Step,
        _ username: String,
        _ userID: String? = nil,
        password: PasswordHash? = nil,
        attributes: [String: String] = [:]
    ) async throws -> Reply {
        // Announced under either of two names, with either of two separators.
        let announced = form["capabilities"] ?? form["capability"] ?? ""
        let flow = Flow(
            holder: holder,
            username: username,
            userID: userID,
            capabilities: Set(announced.split { $0 == " " || $0 == "," }.map(String.init)),
            expires: state.clock.now + Lifetime.flow,
            step: step,
            password: password,
            attributes: attributes
        )
        return .object(["continuation_token": .string(await state.flows.begin(flow))])
    }

    /// Sends the client to the browser.
    func redirect(_ reason: String) throws -> Reply {
        .object(["challenge_type": "redirect", "redirect_reason": .string(reason)], outcome: "redirect")
    }
}
