import TokenStoreKit

/// The code of the articles, each sample in a function that gives it what it takes for granted.
enum ArticleSamples {
    static func store(_ response: TokenResponse, for request: TokenRequest) throws -> SavedTokens {
        let store = try TokenStore.open(at: StorePath("sessions/tokenstore.db"))
        let saved = try store.save(response, for: request)
        return saved
    }

    static func openFleet() async throws -> TokenStore {
        let options = StoreOptions(keySource: .file("/etc/tokenstore.key"))
        let location = try StoreLocation("postgresql://web@db1.example,db2.example/sessions")
        let store = try await TokenStore.open(at: location, options: options)
        return store
    }

    static func lookUp(
        _ account: Account,
        in store: TokenStore,
        use: (AccessToken) -> Void,
        signInOrRefresh: () -> Void
    ) throws {
        let query = TokenQuery(account: account.id, clientID: "my-app", scope: "api://todo/Read")
        switch try store.cachedToken(for: query) {
        case .usable(let token, _): use(token)
        default: signInOrRefresh()
        }
    }

    static func choose(in store: TokenStore) throws -> Account? {
        let policy = AccountPolicy.userFlow("B2C_1_SUSI")
            .and(.claim("department", equals: "engineering"))
            .otherwise(.username("ana@example.org"))
        let account = try store.account(matching: policy)
        return account
    }

    static func demandProof(_ configuration: inout PublicClientConfiguration) {
        configuration.tokenOptions.dpop = .required
    }

    static func signIn(
        store: TokenStore,
        code: Secret,
        askAgain: (SignInCodeRequiredState) -> Void,
        askForMore: (SignInStartResult) -> Void,
        show: (SignInResult) -> Void,
        use: (AccessToken) -> Void
    ) async throws {
        let configuration = try NativeAuthConfiguration(clientID: "my-app", tenantSubdomain: "fabrikvine")
        let application = NativeAuthPublicClientApplication(
            configuration,
            store: store,
            transport: AsyncHTTPTransport()
        )
        switch try await application.signIn(SignInParameters(username: "bo@example.org")) {
        case .codeRequired(let state):
            do throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) {
                show(try await state.submitCode(code))
            } catch {
                if error.isInvalidCode, let state = error.state { askAgain(state) }
            }
        case .completed(let account):
            use(try await account.accessToken(for: "api://todo/Read").accessToken)
        case let other:
            askForMore(other)
        }
    }
}
