import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import Testing

extension NativeScene {
    /// Signs Ana in with her password.
    func signInAna(_ scope: Scope = Scope([]), in app: NativeAuthPublicClientApplication? = nil) async throws
        -> NativeAuthUserAccount
    {
        let app = try app ?? self.app("pwd-app")
        let parameters = SignInParameters(username: Self.ana, password: Self.anasPassword, scope: scope)
        return try await app.signIn(parameters).account
    }

    /// Signs Bo in with a code.
    func signInBo(in app: NativeAuthPublicClientApplication? = nil) async throws -> NativeAuthUserAccount {
        let state = try await (app ?? self.app()).signIn(SignInParameters(username: Self.bo)).codeState
        return try await state.submitCode(code()).account
    }

    /// Goes on after the polls have refused a password, with answers that take the next one: the provider's own worker
    /// has taken the first by then.
    func givesPasswordAgain(_ state: ResetPasswordRequiredState) async throws {
        provider.audit.reset()
        let (taken, done) = (#"{"continuation_token":"p","poll_interval":1}"#, #"{"status":"succeeded"}"#)
        provider.faults.add(.answer(body: taken, at: "resetpassword/submit"))
        provider.faults.add(.answer(body: done, at: "resetpassword/poll_completion"))
        _ = try await state.submitPassword(Secret("Cordillera-9-Norte"))
        #expect(requests == ["resetpassword/submit": 1, "resetpassword/poll_completion": 1])
    }
}
