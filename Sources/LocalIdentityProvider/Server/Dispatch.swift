import HTTPTypes

/// Hands a request to its endpoint.
struct Dispatch: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange) async throws -> Reply {
        guard let realm = exchange.realm else {
            switch exchange.route {
            case .api: return try await ProtectedAPI(state: state).respond(exchange)
            case .admin: return try await AdminEndpoint(state: state).respond(exchange)
            default: throw Gateway.unknownRoute
            }
        }
        if exchange.route.isNative { return try await native(NativeRequest(exchange, realm, state)) }
        return switch exchange.route {
        case .metadata: try MetadataEndpoint(state: state).metadata(realm)
        case .keys: try await MetadataEndpoint(state: state).keys(realm)
        case .authorize: try await AuthorizeEndpoint(state: state).respond(exchange, realm)
        case .token: try await TokenEndpoint(state: state).respond(exchange, realm)
        case .deviceCode: try await DeviceAuthorizationEndpoint(state: state).respond(exchange, realm)
        case .device: try await DeviceEndpoint(state: state).respond(exchange, realm)
        case .userInfo: try await UserInfoEndpoint(state: state).respond(exchange, realm)
        case .revoke: try await RevocationEndpoint(state: state).respond(exchange, realm)
        case .introspectToken: try await IntrospectionEndpoint(state: state).respond(exchange, realm)
        case .logout: try await LogoutEndpoint(state: state).respond(exchange, realm)
        default: throw Gateway.unknownRoute
        }
    }

    private func native(_ request: NativeRequest) async throws -> Reply {
        let signIn = SignInEndpoints(state: state)
        let signUp = SignUpEndpoints(state: state)
        let register = RegisterEndpoints(state: state)
        let reset = ResetPasswordEndpoints(state: state)
        return switch request.exchange.route {
        case .initiate: try await signIn.initiate(request)
        case .challenge: try await signIn.challenge(request)
        case .introspect: try await signIn.introspect(request)
        case .signUpStart: try await signUp.start(request)
        case .signUpChallenge: try await signUp.challenge(request)
        case .signUpContinue: try await signUp.continue(request)
        case .registerIntrospect: try await register.introspect(request)
        case .registerChallenge: try await register.challenge(request)
        case .registerContinue: try await register.continue(request)
        case .resetStart: try await reset.start(request)
        case .resetChallenge: try await reset.challenge(request)
        case .resetContinue: try await reset.continue(request)
        case .resetSubmit: try await reset.submit(request)
        case .resetPoll: try await reset.poll(request)
        default: throw Gateway.unknownRoute
        }
    }
}
