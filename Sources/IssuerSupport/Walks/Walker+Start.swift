import NativeAuthentication
import OAuth
import TokenManagement
import TokenStorage

extension Walker {
    /// Begins a flow; the honest begin with the sign-in.
    mutating func begin() async -> WalkStep {
        if isHonest { return await beginHonestly() }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0...1: return await signIn(unknownName() ?? username, password: nil)
        case 2: return await signIn(username, password: chance(1, in: 6) ? Secret("") : knownPassword())
        case 3...4: return await signUp()
        default: return await reset(unknownName() ?? username)
        }
    }

    /// Signs in, signs up if the account does not exist, and resets a password that is not known any more.
    private mutating func beginHonestly() async -> WalkStep {
        do throws(SignInStartError) {
            let result = try await app.signIn(SignInParameters(username: username, password: password))
            return WalkStep(WalkState(result))
        } catch {
            if error.isUserNotFound { return await signUp() }
            if error.isInvalidCredentials { return await reset(username) }
            return WalkStep(error)
        }
    }

    private mutating func unknownName() -> String? {
        chance(1, in: 8) ? ["", "  ", "nobody@example.org"].randomElement(using: &generator) : nil
    }

    private mutating func signIn(_ username: String, password: Secret?) async -> WalkStep {
        let parameters = SignInParameters(
            username: username,
            password: password,
            scope: chance(1, in: 2) ? Self.toDo : Scope([])
        )
        do throws(SignInStartError) {
            return WalkStep(WalkState(try await app.signIn(parameters)))
        } catch { return WalkStep(error) }
    }

    private mutating func signUp() async -> WalkStep {
        var parameters = SignUpParameters(username: isHonest ? username : unknownName() ?? username)
        if chance(1, in: 2) { parameters.password = newPassword() }
        if chance(1, in: 2) { parameters.attributes = attributes() }
        do throws(SignUpStartError) {
            switch try await app.signUp(parameters) {
            case .codeRequired(let state): return WalkStep(.signUpCode(state))
            case .attributesInvalid: return WalkStep(.start)
            }
        } catch { return WalkStep(error) }
    }

    private mutating func reset(_ username: String) async -> WalkStep {
        do throws(ResetPasswordStartError) {
            return WalkStep(.resetCode(try await app.resetPassword(username: username)))
        } catch { return WalkStep(error) }
    }

    /// Gets a token for an API, signs out, or signs in again.
    mutating func go(_ account: NativeAuthUserAccount) async -> WalkStep {
        switch isHonest ? 0 : Int.random(in: 0..<6, using: &generator) {
        case 0...3:
            let scope = chance(1, in: 2) ? Self.toDo : Self.demo
            do throws(RetrieveAccessTokenError) {
                _ = try await account.accessToken(for: scope, forcesRefresh: !isHonest && chance(1, in: 2))
                return WalkStep(.signedIn(account))
            } catch { return WalkStep(error) }
        case 4:
            do {
                try await account.signOut()
                return WalkStep(.start)
            } catch {
                var step = WalkStep(.start)
                step.failure = "\(error)"
                return step
            }
        default: return WalkStep(.start)
        }
    }
}
