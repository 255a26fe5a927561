/// A B2C policy: one browser journey with an issuer of its own.
package struct UserFlow: Codable, Sendable {
    /// What the journey is for.
    package enum Kind: String, Omittable, Sendable {
        case signUpOrSignIn = "susi"
        case editProfile = "edit_profile"
        case resetPassword = "reset"

        package init() { self = .signUpOrSignIn }
    }

    /// Such as `b2c_1_susi`; ``Seed`` makes it lower case.
    package var name: String
    @Defaulted package var kind: Kind
    @Defaulted package var attributePages: [[FlowAttribute]]
    package var accessTokenLifetime: Int?
    package var refreshTokenLifetime: Int?
}
