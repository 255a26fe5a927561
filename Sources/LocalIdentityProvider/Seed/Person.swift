/// A user the seed creates.
package struct Person: Codable, Sendable {
    /// The object id; made up when absent.
    package var id: String?
    package var email: String
    /// Absent for someone who signs in with codes.
    package var password: String?
    @Defaulted package var attributes: [String: String]
    @Defaulted package var methods: [AuthMethod]
    @Defaulted package var isDisabled: Bool
    @Defaulted package var mustResetPassword: Bool
}
