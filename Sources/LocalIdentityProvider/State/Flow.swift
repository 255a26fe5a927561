import Foundation

/// One native sign-in, sign-up or reset on its way.
struct Flow: Sendable, Identifiable {
    let id = UUID()
    let holder: Holder
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
    var codes = OneTimeCodes()

    init(_ request: ClientRequest, username: String, userID: String?, now: Date) {
        holder = request.holder
        self.username = username
        self.userID = userID
        // Announced under either of two names, with either of two separators.
        let announced = request.form["capabilities"] ?? request.form["capability"] ?? ""
        capabilities = Set(announced.split { $0 == " " || $0 == "," }.map(String.init))
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
