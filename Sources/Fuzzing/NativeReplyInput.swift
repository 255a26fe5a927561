import HTTPTransport
import NativeAuthentication
import OAuth
import TokenManagement
import TokenStorage

/// An answer of native authentication, which every request of a flow gets.
struct NativeReplyInput: FuzzInput {
    private static let code = Secret("planted-code")
    private static let password = Secret("planted-password")

    private let scratch: ScratchStore
    private let configuration: NativeAuthConfiguration

    init() throws {
        scratch = try ScratchStore { _ in }
        var configuration = try NativeAuthConfiguration(clientID: "app", tenantSubdomain: "fabrikvine")
        configuration.tokenOptions.pause = { _ in }
        self.configuration = configuration
    }

    func run(_ bytes: [UInt8]) async throws {
        try scratch.restore()
        let (store, issuer) = (try scratch.open(), CannedIssuer(bytes))
        let application = NativeAuthPublicClientApplication(configuration, store: store, transport: issuer)
        try await refusing { try await signIn(application) }
        try await refusing { try await signUp(application) }
        try await refusing { try await resetPassword(application) }
        let problems = try await store.check()
        try hold(problems.isEmpty, "a store that took an answer is sound, unlike \(problems)")
    }

    /// Runs steps, which may end in a refusal that says why and repeats nothing.
    private func refusing(_ steps: () async throws -> Void) async throws {
        do {
            try await steps()
        } catch let error as BrokenPromise {
            throw error
        } catch let error as any CodedError {
            let text = "\(error)"
            try hold(!text.isEmpty, "an error has a description")
            try hold(!text.contains("planted"), "an error does not repeat what was sent: \(text)")
        }
    }

    private func signIn(_ application: NativeAuthPublicClientApplication) async throws {
        let result = try await application.signIn(SignInParameters(username: "bo@example.org", scope: "read"))
        switch result {
        case .codeRequired(let state):
            try hold((0...1_000).contains(state.delivery.codeLength), "a code has a length")
            try await go(on: state.resendCode().submitCode(Self.code))
        case .passwordRequired(let state): try await go(on: state.submitPassword(Self.password))
        case .awaitingMFA(let state): try await go(on: .awaitingMFA(state))
        case .strongAuthMethodRegistration(let state): try await go(on: .strongAuthMethodRegistration(state))
        case .completed(let account): try await go(on: .completed(account))
        }
    }

    private func go(on result: SignInResult) async throws {
        switch result {
        case .awaitingMFA(let state):
            for method in state.authMethods.prefix(2) {
                _ = try await state.requestChallenge(method).submitChallenge(Self.code)
            }
        case .strongAuthMethodRegistration(let state):
            for method in state.authMethods.prefix(2) {
                let next = try await state.challengeAuthMethod(method, contact: "bo@example.org")
                if case .verificationRequired(let state) = next { _ = try await state.submitChallenge(Self.code) }
            }
        case .completed(let account): try hold(!account.account.id.homeAccountID.isEmpty, "an account has an id")
        }
    }

    private func signUp(_ application: NativeAuthPublicClientApplication) async throws {
        let parameters = SignUpParameters(username: "bo@example.org", password: Self.password)
        guard case .codeRequired(let state) = try await application.signUp(parameters) else { return }
        switch try await state.submitCode(Self.code) {
        case .passwordRequired(let state): _ = try await state.submitPassword(Self.password)
        case .attributesRequired(let state): _ = try await state.submitAttributes(JSONValue.Object([("city", "Oslo")]))
        case .completed(let state): try await go(on: state.signIn())
        }
    }

    private func resetPassword(_ application: NativeAuthPublicClientApplication) async throws {
        let state = try await application.resetPassword(username: "bo@example.org")
        try await go(on: state.submitCode(Self.code).submitPassword(Self.password).signIn())
    }
}
