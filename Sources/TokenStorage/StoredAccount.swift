import OAuth

/// What the row of an account holds besides its identity.
struct StoredAccount {
    var username: String
    var policy: String?
    var issuer: String?
    var name: String?
}
