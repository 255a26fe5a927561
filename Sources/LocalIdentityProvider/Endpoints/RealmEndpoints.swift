import HTTPTypes

/// The endpoints of one issuer.
struct RealmEndpoints: Sendable {
    let state: ProviderState
    let exchange: Exchange
    let realm: Realm

    var journey: Journey { Journey(state: state, exchange: exchange, realm: realm) }
    var verifier: TokenVerifier { TokenVerifier(state: state) }
    /// The query, or the form of a POST.
    var parameters: Parameters { exchange.method == .post ? exchange.form : exchange.query }

    func respond() async throws -> Reply {
        if exchange.route.isNative {
            return try await NativeEndpoints(state: state, request: ClientRequest(native: exchange, realm)).respond()
        }
        return switch exchange.route {
        case .metadata: try metadata()
        case .keys: try await keys()
        case .authorize: try await authorize()
        case .token:
            try await TokenEndpoint(state: state, request: ClientRequest(authenticating: exchange, realm)).respond()
        case .deviceCode: try await deviceCode()
        case .device: try await device()
        case .userInfo: try await userInfo()
        case .revoke: try await revoke()
        case .introspectToken: try await introspect()
        case .logout: try await logout()
        default: throw ProtocolError.unknownRoute
        }
    }

    /// RFC 8628 section 3.1.
    private func deviceCode() async throws -> Reply {
        let request = try ClientRequest(authenticating: exchange, realm)
        let scope = exchange.form["scope"] ?? ScopeRequest.usual
        _ = try ScopeRequest(scope, tenant: realm.tenant)
        let codes = await state.grants.beginDevice(request.holder, scope: scope)
        let page = realm.url(.device)
        return try .json([
            "device_code": .string(codes.deviceCode), "user_code": .string(codes.userCode),
            "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(codes.userCode)"),
            "expires_in": .integer(Lifetime.deviceCode), "interval": .integer(Lifetime.devicePollInterval),
            "message": .string("Open \(page) and enter the code \(codes.userCode)."),
        ])
    }

    /// The page where a person connects a device (RFC 8628 section 3.3).
    private func device() async throws -> Reply {
        if let interaction = exchange.form["interaction"] { return try await journey.post(interaction) }
        let code = exchange.query["user_code"] ?? ""
        return try await journey.begin(.device(userCode: nil), at: .deviceCode, client: nil, filled: code)
    }

    /// RFC 7009; answers 200 for unknown tokens too (section 2.2).
    private func revoke() async throws -> Reply {
        let client = try ClientRequest(authenticating: exchange, realm).client
        let token = try exchange.form.required("token")
        if await !state.grants.revoke(token, client: client),
            let claims = try await verifier.claims(of: token)?.claims, claims["azp"]?.text == client.id,
            let id = claims["jti"]?.text
        {
            await state.grants.revokeAccessToken(id)
        }
        return try .json([:])
    }

    /// End session (OpenID Connect RP-Initiated Logout).
    private func logout() async throws -> Reply {
        if let cookie = exchange.cookie(Journey.sessionCookie) { await state.browsers.forget(cookie, in: realm.tenant) }
        guard let uri = parameters["post_logout_redirect_uri"] else {
            return Page.done("Signed out", "You are signed out at this browser.")
        }
        guard realm.tenant.clients.contains(where: { $0.allowsRedirect(to: uri) }) else {
            throw ProtocolError.invalidParameter("post_logout_redirect_uri")
        }
        let state = parameters["state"].map {
            (uri.contains("?") ? "&" : "?") + "state=" + AuthorizationResponse.encode($0)
        }
        return .found(uri + (state ?? ""), outcome: "signed out")
    }
}
