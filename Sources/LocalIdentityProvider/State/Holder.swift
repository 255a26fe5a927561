/// Who may use a code or a token: one client at one issuer.
struct Holder: Hashable, Sendable {
    let clientID: String
    let tenantID: String
    let policy: String?

    init(_ client: Client, at realm: Realm) {
        clientID = client.id
        tenantID = realm.tenant.id
        policy = realm.policy?.name
    }
}
