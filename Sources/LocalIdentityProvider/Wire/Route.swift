import HTTPTypes

/// What a path means; the raw value is the path behind tenant and policy.
enum Route: String, CaseIterable, Sendable {
    case metadata = "v2.0/.well-known/openid-configuration"
    case keys = "discovery/v2.0/keys"
    case userInfo = "openid/v2.0/userinfo"

    case authorize = "oauth2/v2.0/authorize"
    case device = "oauth2/v2.0/device"
    case logout = "oauth2/v2.0/logout"

    case token = "oauth2/v2.0/token"
    case deviceCode = "oauth2/v2.0/devicecode"
    case revoke = "oauth2/v2.0/revoke"
    case introspectToken = "oauth2/v2.0/introspection"

    case initiate = "oauth2/v2.0/initiate"
    case challenge = "oauth2/v2.0/challenge"
    case introspect = "oauth2/v2.0/introspect"
    case signUpStart = "signup/v1.0/start"
    case signUpChallenge = "signup/v1.0/challenge"
    case signUpContinue = "signup/v1.0/continue"
    case registerIntrospect = "register/v1.0/introspect"
    case registerChallenge = "register/v1.0/challenge"
    case registerContinue = "register/v1.0/continue"
    case resetStart = "resetpassword/v1.0/start"
    case resetChallenge = "resetpassword/v1.0/challenge"
    case resetContinue = "resetpassword/v1.0/continue"
    case resetSubmit = "resetpassword/v1.0/submit"
    case resetPoll = "resetpassword/v1.0/poll_completion"

    case api, admin, unknown

    /// The first parts of the paths of ``api``.
    static let apis = ["api1", "api2"]

    /// The name in the audit log and in faults, such as `token` or `signup/continue`.
    var name: String {
        let parts = rawValue.split(separator: "/")
        return self == .metadata ? "metadata" : (isVersion1 ? "\(parts[0])/" : "") + (parts.last ?? "")
    }

    var methods: [HTTPRequest.Method] {
        switch self {
        case .admin: [.get, .post, .delete]
        case .api: [.get, .head, .post, .put, .patch, .delete]
        case .metadata, .keys: [.get, .head]
        case .authorize, .device, .logout, .userInfo: [.get, .post]
        default: [.post]
        }
    }

    /// Whether a person looks at the answers, errors included.
    var isPage: Bool { [.authorize, .device, .logout].contains(self) }

    /// Whether the route belongs to native authentication and so to a tenant, never to a policy.
    var isNative: Bool { [.initiate, .challenge, .introspect].contains(self) || isVersion1 }

    private var isVersion1: Bool { rawValue.contains("/v1.0/") }
}

/// The tenant, or one user flow of it, that a request speaks to; each is a separate issuer.
struct Realm: Sendable {
    let tenant: Tenant
    let policy: UserFlow?
    let baseURL: String

    var authority: String { baseURL + (policy.map { "/tfp/\(tenant.id)/\($0.name)" } ?? "/\(tenant.id)") }
    var issuer: String { authority + (policy == nil ? "/v2.0" : "/v2.0/") }
    /// The audience of a token that was asked for no API.
    var userInfoAudience: String { "\(baseURL)/\(tenant.id)/\(Route.userInfo.rawValue)" }

    func url(_ route: Route) -> String { "\(authority)/\(route.rawValue)" }

    /// The first half of `client_info`: one person has one account per policy.
    func accountID(of oid: String) -> String { policy.map { "\(oid)-\($0.name)" } ?? oid }

    func holder(_ clientID: String) -> Holder {
        Holder(clientID: clientID, tenantID: tenant.id, policy: policy?.name)
    }

    func client(_ id: String?) throws -> Client {
        guard let id, id.count <= 128, id.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil else {
            throw ProtocolError.invalidParameter("client_id")
        }
        guard let client = tenant.clients.first(where: { $0.id == id }) else { throw ProtocolError.unknownClient }
        return client
    }
}

/// Who may use a code or a token: one client at one issuer (L09).
struct Holder: Hashable, Sendable {
    let clientID: String
    let tenantID: String
    let policy: String?
}
