import OAuth

/// A way to send a code to a person, or to register (MSAL's `MSALAuthMethod`).
public struct AuthMethod: Hashable, Sendable, Identifiable {
    public let id: String

    /// Such as `oob`.
    public let challengeType: String
    public let channelTargetType: ChannelType

    /// The address or number, masked.
    public let loginHint: String?

    init?(_ object: JSON.Object) {
        guard let id = object["id"]?.text, let type = object["challenge_type"]?.text,
            let channel = object["challenge_channel"]?.text
        else { return nil }
        self.id = id
        challengeType = type
        channelTargetType = ChannelType(value: channel)
        loginHint = object["login_hint"]?.text
    }
}
