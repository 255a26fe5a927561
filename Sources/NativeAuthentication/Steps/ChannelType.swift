/// By what a code is sent; issuers may add their own, so this is an open set (MSAL's `MSALNativeAuthChannelType`).
public struct ChannelType: Hashable, Sendable, CustomStringConvertible {
    /// As the issuer wrote it.
    public let value: String

    public var isEmailType: Bool { value.lowercased() == "email" }
    public var isSMSType: Bool { value.lowercased() == "sms" }
    public var description: String { value }

    init(value: String) { self.value = value }
}
