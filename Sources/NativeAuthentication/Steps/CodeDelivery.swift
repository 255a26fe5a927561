import OAuth

/// Where a code was sent.
public struct CodeDelivery: Hashable, Sendable {
    /// The address or number, masked unless it was just typed.
    public let sentTo: String
    public let channelTargetType: ChannelType

    /// How many characters the code has.
    public let codeLength: Int

    /// Seconds before another code may be asked for, where the issuer says so.
    public let resendInterval: Int64?

    init?(_ object: JSON.Object) {
        guard let target = (object["challenge_target_label"] ?? object["challenge_target"])?.text,
            let channel = object["challenge_channel"]?.text, let length = object["code_length"]?.seconds,
            (0...1_000).contains(length)
        else { return nil }
        sentTo = target
        channelTargetType = ChannelType(value: channel)
        codeLength = Int(length)
        resendInterval = object["interval"]?.seconds
    }
}
