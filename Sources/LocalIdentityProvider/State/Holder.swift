/// Who may use a code or a token: one client at one issuer (L09).
struct Holder: Hashable, Sendable {
    let clientID: String
    let tenantID: String
    let policy: String?
}
