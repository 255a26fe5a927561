/// A contact that is to become a person's method.
public final class MSALNativeAuthChallengeAuthMethodParameters {
    public let authMethod: MSALAuthMethod
    public let verificationContact: String

    public init(authMethod: MSALAuthMethod, verificationContact: String) {
        self.authMethod = authMethod
        self.verificationContact = verificationContact
    }
}
