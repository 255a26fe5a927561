import Foundation

/// One native sign-in, sign-up or reset on its way.
struct Flow: Sendable, Identifiable {
    let id = UUID()
    let tenantID: String
    let clientID: String
    let username: String
    let capabilities: Set<String>
    let expires: Date

    /// Nil until a sign-up has made the user.
    var userID: String?
    /// What the client has to send next.
    var step = Step.challenge
    var password: PasswordHash?
    var attributes: [String: String] = [:]
    /// The scopes of the request that asked for a second factor.
    var scope: String?
    var claims: String?
    /// Addresses whose code was entered in this flow.
    var verified: Set<String> = []
    /// How the person signed in so far (RFC 8176).
    var methods: [String] = []
    var secondFactor: AuthMethod?
    /// The contact to register was verified in this flow already.
    var isPreverified = false
    var sentCodes = 0
    var code: OneTimeCode?

    init(_ request: NativeRequest, username: String, userID: String?, now: Date) {
        tenantID = request.realm.tenant.id
        clientID = request.client.id
        self.username = username
        self.userID = userID
        capabilities = request.capabilities
        expires = now + TimeInterval(Lifetime.flow)
    }

    /// The next thing a client has to prove or send.
    enum Step: Sendable {
        case challenge
        case code
        case password
        case attributes
        case secondFactor
        case registration
        case newPassword
        case poll
        case tokens
    }
}
