/// Who signed in, as Microsoft's token endpoint says beside the tokens when asked with `client_info=1`.
public struct ClientInfo: Hashable, Sendable {
    /// The user's id in the home tenant; for Azure AD B2C with the user flow behind it.
    public let uid: String

    /// The home tenant.
    public let utid: String

    /// The text it was read from.
    public let rawValue: String

    /// Decodes base64url JSON; nil if it is not that, or names no user or tenant.
    public init?(decoding text: String) {
        guard let bytes = Base64URL.decode(text.utf8),
            // Not decodable counts as not sent: the ID token says who it is as well.
            let payload = try? JSON(parsing: String(decoding: bytes, as: UTF8.self)).object,
            let uid = payload["uid"]?.text, !uid.isEmpty, let utid = payload["utid"]?.text, !utid.isEmpty
        else { return nil }
        self.uid = uid
        self.utid = utid
        rawValue = text
    }

    /// Whether an id has the shape `uid.utid` with a GUID for the tenant, which no other provider's `sub` has.
    package static func isShaped(_ homeAccountID: String) -> Bool {
        guard let dot = homeAccountID.lastIndex(of: "."), dot != homeAccountID.startIndex else { return false }
        return isTenantID(homeAccountID[homeAccountID.index(after: dot)...])
    }

    /// Whether a tenant is named by its GUID, rather than by a domain or by a word such as `common`.
    package static func isTenantID(_ tenant: some StringProtocol) -> Bool {
        var position = 0
        for byte in tenant.utf8 {
            let isDash = [8, 13, 18, 23].contains(position)
            guard isDash ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit else { return false }
            position += 1
        }
        return position == 36
    }

    public var homeAccountID: String { "\(uid).\(utid)" }
}
