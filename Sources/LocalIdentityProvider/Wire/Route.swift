import HTTPTypes

/// What a path means; the raw value is the path behind tenant and policy.
enum Route: String, CaseIterable, Sendable {
    case metadata = "v2.0/.well-known/openid-configuration"
    case keys = "discovery/v2.0/keys"
    case authorize = "oauth2/v2.0/authorize"
    case token = "oauth2/v2.0/token"
    case deviceCode = "oauth2/v2.0/devicecode"
    case device = "oauth2/v2.0/device"
    case userInfo = "openid/v2.0/userinfo"
    case revoke = "oauth2/v2.0/revoke"
    case introspectToken = "oauth2/v2.0/introspection"
    case logout = "oauth2/v2.0/logout"

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

    case api = "api"
    case admin = "admin"
    case unknown = "unknown"

    /// The name in the audit log and in faults, such as `token` or `signup/continue`.
    var name: String { Self.names[self] ?? rawValue }

    private static let names = Dictionary(
        uniqueKeysWithValues: allCases.map { route in
            let path = route.rawValue
            return switch route {
            case .metadata: (route, "metadata")
            case .keys: (route, "keys")
            default:
                (route, path.replacing(/^(oauth2|openid)\/v2\.0\//, with: "").replacing("/v1.0/", with: "/"))
            }
        }
    )

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
    var isNative: Bool {
        switch self {
        case .initiate, .challenge, .introspect: true
        default: rawValue.contains("/v1.0/")
        }
    }
}
