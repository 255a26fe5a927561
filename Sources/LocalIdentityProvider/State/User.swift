import Foundation

/// One person of a tenant.
struct User: Sendable {
    var id = UUID().uuidString.lowercased()
    let email: String
    var password: PasswordHash?
    /// The three before the current one.
    var earlierPasswords: [PasswordHash] = []
    var attributes: [String: String]
    var methods: [AuthMethod] = []
    var isDisabled = false
    var mustResetPassword = false
    var failedPasswords = 0
    var lockedUntil: Date?
    /// A reset that a worker of the real service would still be carrying out.
    var pendingPassword: (hash: PasswordHash, appliesAt: Date)?
    /// Refresh families begun earlier are dead.
    var familiesEndBefore: Date?

    var name: String { attributes["displayName"] ?? "unknown" }
}
